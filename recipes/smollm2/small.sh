#!/usr/bin/env bash
# The path from a fresh clone to trained adapters of SmolLM2, not the result: bash small.sh FOLDER [steps]
# Far fewer examples and steps than the plan has, so the numbers that it prints mean nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "$1") steps=${2:-15}
export HF_HUB_OFFLINE=1 PYTHONPATH=.${PYTHONPATH:+:$PYTHONPATH}
recipe=recipes/smollm2
if [ "$steps" -gt 2 ]; then prompts=4 updates=13 problems=20 samples=16; else prompts=2 updates=2 problems=2 samples=8; fi
[ -n "${MODEL:-}" ] || python -m recipes.smollm2.model "$out/models"
python -m recipes.smollm2.warmup "${MODEL:-$out/models/smollm2}" "$out/warmup" --steps $updates
setrl train --config $recipe/countdown.yaml --run-dir "$out/run" --set model="$out/warmup/model" \
    --set arms='{grpo: {method: grpo}, concave_0: {method: concave_counts, alpha: 0}}' --set 'seeds=[0]' \
    --set steps="$steps" --set prompts_per_step=$prompts --set micro_batch_size=$((prompts * 8)) \
    --set eval_problems=$problems --set eval_samples=$samples --set stop_rule=null
setrl compare "$out/run/grpo" "$out/run/concave_0" --k 1 8
echo "This was the path: $updates updates of warm-up instead of 800, $steps steps instead of 150. The plan: bash $recipe/cpu.sh"
