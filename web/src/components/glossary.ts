/** What each word on the page means: shown on hover, on focus and on tap. */

export const GLOSSARY = {
  sample:
    "One answer that the model wrote to the prompt. A training step draws N samples of each prompt and compares them.",
  reward: "How good a sample is: 1 for a correct answer, 0 for a wrong one, or a grade in between.",
  strategy:
    "The way in which a sample solves the problem, such as factoring or the quadratic formula. Samples with the same letter use the same strategy.",
  degenerate:
    "A sample that makes no sense, such as one word repeated. It belongs to no strategy, so it adds no variety to a set.",
  advantage:
    "The credit of a sample. Training makes samples with a positive advantage more likely and samples with a negative advantage less likely.",
  grpo: "GRPO: reward minus the mean reward of the group, divided by the standard deviation. It looks at correctness only: every correct sample gets the same credit.",
  shaping:
    "Reward shaping: a bonus λ·d is added to the reward before the mean is subtracted. d is 1 for a strategy that no other sample uses and 0 for one that all samples use.",
  polyEpo:
    "Poly-EPO: scores sets of K samples by mean reward × share of different strategies. A sample gets the mean score of its sets minus the mean score of all sets.",
  maxpo:
    "MaxPO: scores sets of K samples by their best reward. A sample gets the mean score of the sets with it minus the mean score of the sets without it.",
  counts:
    "Concave counts: a correct sample gets m^(α−1), where m is the number of correct samples with its strategy. With α = 1 every correct sample gets 1; with α = 0 a strategy shares one unit of credit among its samples.",
  chosen: "The method that you choose above: objective, baseline, reduction and scale.",
  setSize: "K: how many samples a set holds.",
  objective: "What a set is worth: a number computed from all samples of the set together.",
  polychromic:
    "Mean reward of the set × number of different strategies in the set / K. Both must be high: a set is worth much if it is correct in different ways.",
  any_correct: "pass@K: 1 if at least one sample of the set is correct, else 0.",
  max: "max@K: the best reward in the set.",
  majority:
    "Majority vote: the reward of the answer that most samples of the set give. Here all correct samples give the same answer, and wrong samples of one strategy share one wrong answer.",
  mean: "The mean reward of the set. With this objective, set credit is ordinary credit.",
  distinct_correct: "The number of different strategies that succeed in the set.",
  baseline:
    "What a sample's sets are compared with. It changes how noisy training is, but not the direction in which it goes on average.",
  all_sets: "U: the mean score of all sets. The advantage is u − U, as in Poly-EPO.",
  leave_one_out: "v: the mean score of the sets without the sample. The advantage is u − v, as in MaxPO.",
  smaller_sets:
    "w: the mean score of the sets of K − 1 other samples. The advantage u − w is what the sample adds on average when it joins a set.",
  none: "No baseline: the advantage is u, the mean score of the sample's sets.",
  reduction:
    "Whether a sample gets the mean over its sets or their sum. When all sets are scored, the two differ only by a constant factor. When sets are drawn, samples in more sets get a larger sum.",
  scale:
    "Whether the advantages of a prompt are divided by a standard deviation. This gives every prompt the same weight, and biases training.",
  standardError:
    "How far the advantage from one draw of sets is typically from that of all sets: its standard deviation over many draws. More sets make it smaller.",
  otherSign: "The share of draws in which the sample would be pushed the other way than with all sets.",
  sets: "Score every set, or only some sets that are drawn at random. Drawing is cheaper for large N, and noisy.",
  u: "u: the mean score of the sets that hold the sample.",
  U: "U: the mean score of all sets.",
  score: "The value of the objective for one set.",
  eq15: "Equation 15 of the set RL note: because a polychromic score is a product, its mean over a sample's sets is E[reward] × E[diversity] + covariance. The difference to all sets has three parts, which add up to the advantage exactly.",
  rewardWith: "E[reward]: the mean reward of the sample's sets.",
  diversityWith: "E[diversity]: the mean share of different strategies in the sample's sets.",
  covarianceWith:
    "Cov: the covariance of reward and diversity over the sample's sets. It is positive if the sets with more reward are also the more varied ones.",
  rewardPart: "How much more reward the sample's sets have than all sets, times the diversity of its sets.",
  diversityPart: "How much more diverse the sample's sets are than all sets, times the mean reward of all sets.",
  covariancePart:
    "Whether reward and diversity occur in the same sets more often for this sample's sets than for all sets. A bonus that is added to the reward cannot produce this part.",
  quadrants:
    "Credit sorted by whether the sample is correct and whether it is made more or less likely. Two of the four cases go against correctness and deserve a look.",
  lambda: "λ: how much a rare strategy is worth compared with a correct answer, in reward shaping.",
  alpha:
    "α of concave counts: how much a further correct sample of the same strategy adds. 1: as much as the first. 0: nothing.",
  collapse:
    "When training makes one strategy so likely that the others disappear. The model then fails on problems that only the others solve.",
  effective:
    "How many equally frequent strategies would be as varied as these: the exponential of the entropy. 5 even shares give 5; one share of 100% gives 1.",
  success: "How often a sample with this strategy is correct.",
  share: "How often the model uses this strategy.",
  waterFilling:
    "At the optimum of a mixture of mean reward and polychromic score (sets of two), a strategy keeps a share only if its success is above a level, the water line. The higher its success, the larger its share.",
  mixture: "The weight of the polychromic score. The rest, 1 − α, is the weight of the mean reward.",
  passAtK: "pass@k: the chance that at least one of k samples is correct.",
  portfolio: "The shares of all strategies of a model together.",
  shifted:
    "Shifted problems: problems of another kind than those of training. The strategies that are most frequent in training often fail on them, so a model needs others.",
  testSplit: "Test problems: new problems of the same kind as those of training.",
  base: "The base: the model before this training.",
  tries:
    "k tries: the model answers the same problem k times, and the problem counts as solved if one answer is correct.",
  paired:
    "Paired: both arms answer the same problems, and the difference is computed for each problem. That some problems are easier than others then cancels out.",
  interval:
    "The band around a curve: where the true value lies with 95% confidence, for one k. It says how far another draw of problems, and of seeds, would move the value.",
  band: "Dotted lines: a band that contains the whole true curve, at all k at once, with 95% confidence. It is wider than the intervals for one k.",
  points: "Percentage points: 40% against 30% is a difference of 10 points.",
  majorityVote: "majority@k: how often the most frequent answer of k samples is correct. Ties are broken at random.",
  voteShare:
    "Vote share: how many of k samples give the most frequent answer, as a share. It tells how much the samples agree, whether they are right or not.",
  correctStrategies: "How many different strategies succeed among k samples.",
  arm: "One of the methods that were trained and compared, with its settings.",
  seed: "A training run with other random numbers. Differences between seeds are luck.",
  deadGroups:
    "Dead groups: prompts whose samples all have an advantage of 0, so that training learns nothing from them.",
  frontier: "The arms that no other arm beats in both directions at once. Up and to the right is better.",
  generation: "Generation: the model writes its samples.",
  verification: "Verification: the answers are checked, which gives the rewards.",
  judging: "Judging: a judge sorts the samples of a prompt by strategy.",
  creditTime: "Credit: advantages are computed from rewards and strategies.",
  update: "Update: the model's weights are changed, forward and backward passes included.",
} as const;

export type TermName = keyof typeof GLOSSARY;
