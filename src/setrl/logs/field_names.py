"""Names under which strangers' logs hold what is read, in plain letters: no case, no "_", no "-".

Of two that a log has, the first of a list is taken.
"""

from __future__ import annotations

GROUPS = ("group", "groupid", "qid", "questionid", "problemid", "promptid", "taskid",
          "instanceid", "exampleid", "itemid", "docid", "uniqueid", "uid", "id", "prompt",
          "problem", "question", "input", "instruction", "idx", "index")  # fmt: skip
SAYS_CORRECT = ("correct", "iscorrect", "isright", "right", "passed", "pass", "ispassed",
                "success", "solved", "issolved", "resolved", "correctness", "isequiv",
                "exactmatch", "verified")  # fmt: skip
SCORES = ("acc", "accuracy", "score", "reward", "grade", "verdict", "judgement", "judgment",
          "outcome", "result", "label")  # fmt: skip
# Verdicts of 0 and 1 that must agree with the field that says what is correct.
ALSO_VERDICTS = ("acc", "accuracy", "score", "judge", "llmjudge", "judgecorrect", "judgescore",
                 "modelgraded", "llmgrade")  # fmt: skip
ANSWERS = ("pred", "prediction", "predicted", "predictedanswer", "predanswer", "finalanswer",
           "final", "extractedanswer", "extracted", "parsedanswer", "parsed",
           "modelanswer")  # fmt: skip
GOLDS = ("gold", "goldanswer", "groundtruth", "gt", "gts", "target", "reference",
         "referenceanswer", "expected", "expectedanswer", "correctanswer",
         "answerkey")  # fmt: skip
EITHER = "answer"  # the model's answer where it differs within a group, else the right answer
TEXTS = ("text", "output", "completion", "response", "generation", "generatedtext", "modeloutput",
         "sample", "content", "code", "messages", "turns", "conversation",
         "trajectory")  # fmt: skip
REWARDS = ("reward", "totalreward")  # next to a field that says what is correct
# A judge's label before the name that a program gives; never an answer.
STRATEGIES = ("cluster", "clusterid", "strategy", "strategies", "strategyid", "approach",
              "approaches")  # fmt: skip
STEPS = ("step", "globalstep", "trainingstep", "iteration")
PROMPTS = ("prompt", "problem", "question", "input", "instruction", "query")
TOKENS = ("numtokens", "ntokens", "tokencount", "completiontokens", "outputtokens",
          "responsetokens", "generatedtokens", "completionids", "outputids", "responseids",
          "tokenids", "outputtokenids")  # how many, or the tokens themselves  # fmt: skip
TOKENS_OF_TRAINERS = (*TOKENS, "completionlength", "responselength")  # elsewhere maybe letters
NUMBERS = ("sampleid", "sampleidx", "sampleindex", "samplenumber", "sampleno", "sample", "rollout",
           "rolloutid", "rolloutidx", "attempt", "trial", "repeat", "completionid",
           "completionidx", "generationid", "responseid", "epoch", "seed", "idx",
           "index")  # fmt: skip
COUNTS_CORRECT = ("c", "numcorrect", "ncorrect", "correctcount", "numpassed", "passes",
                  "successes")  # fmt: skip
COUNTS_ALL = ("n", "numsamples", "nsamples", "samplecount", "total", "trials", "count")
ROW_LISTS = ("samples", "completions", "responses", "generations", "outputs", "rollouts",
             "results", "problems", "perproblem", "records", "data", "choices")  # fmt: skip
SAMPLE_LISTS = ("samples", "completions", "responses", "generations", "outputs", "rollouts",
                "choices")  # of one problem  # fmt: skip
