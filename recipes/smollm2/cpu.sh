#!/usr/bin/env bash
# The whole plan on two cores, about ten hours: bash recipes/smollm2/cpu.sh FOLDER
# Everything is written below FOLDER. Stopped at any time, the same command goes on.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "$1")
mkdir -p "$out"
export HF_HUB_OFFLINE=1 PYTHONPATH=.${PYTHONPATH:+:$PYTHONPATH}
recipe=recipes/smollm2
model=$out/warmup/model
say() { echo "$(date +%H:%M) $*" | tee -a "$out/progress.log"; }

sampled() { # sampled CHECKPOINT TEMPERATURE FILE: 100 problems of the test, 64 samples
    setrl sample --task $recipe/countdown.yaml --split test --checkpoint "$1" --temperature "$2" \
        --problems 100 --samples 64 --output "$3"
}

say "models and warm-up"
python -m recipes.smollm2.model "$out/models"
python -m recipes.smollm2.warmup "$out/models/smollm2" "$out/warmup" --steps "${WARMUP_STEPS:-800}" --look 100 --check

say "learning rates"
for rate in 5e-5 2e-4 1e-3; do
    setrl train --config $recipe/sweep.yaml --set model="$model" --set learning_rate=$rate \
        --run-dir "$out/runs/sweep_$rate"
done
rate=$(python -m recipes.smollm2.rate "$out"/runs/sweep_*)
say "learning rate $rate"

for seeds in '[0]' '[0,1]'; do
    say "arms with seeds $seeds"
    setrl train --config $recipe/countdown.yaml --set model="$model" --set learning_rate="$rate" \
        --set seeds="$seeds" --run-dir "$out/runs/countdown"
done

say "other temperatures"
for heat in 0.5 0.7 1.3; do
    sampled "$model" $heat "$out/runs/temperatures/base_$heat.jsonl"
done
for seed in 0 1; do
    sampled "$out/runs/countdown/grpo/seed_$seed/final" 1.3 "$out/runs/temperatures/grpo_1.3_seed_$seed.jsonl"
done
say "done: python -m recipes.smollm2.results $out docs/results/smollm2"
