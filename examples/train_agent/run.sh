#!/usr/bin/env bash
# One GPU, a quarter of an hour: a language model imitates experts, learns in a dream, and is evaluated in the grounded
# world as it is, after the one and after the other, on the same tasks that it never saw.
#
#     examples/train_agent/run.sh runs/agent
#     MODEL=runs/world/model examples/train_agent/run.sh runs/agent      # the agent as its own world model
#     MODEL=smollm2-135m ENGINE=transformers FAMILY=permissions SESSIONS=8 TASKS=4 STEPS=2 \
#         SFT="--lora 16 --rate 1e-3 --batch 2" GRPO="--group 2 --tasks 1 --turns 4 --tokens 16 --lora 16" \
#         EVAL="--sampling max_tokens=16 --world-option max_steps=4" examples/train_agent/run.sh runs/agent   # a CPU
#
# With ENGINE=vllm MODEL may be a name of the Hugging Face hub. WORLD is the dream. SFT, GRPO and EVAL are further
# options of sft.py, grpo.py and `agentworld eval agent`. `pip install -e '.[lwm,train,vllm]'`.
set -euo pipefail

out=${1:?usage: run.sh FOLDER}
model=${MODEL:-Qwen/Qwen3-0.6B} engine=${ENGINE:-vllm} world=${WORLD:-tiny} domain=${DOMAIN:-Terminal}
sessions=${SESSIONS:-1000} steps=${STEPS:-40} tasks=${TASKS:-100}
here=$(dirname "$0")
name=$(tr '[:upper:]' '[:lower:]' <<<"$domain")
seed=$((RANDOM * 32768 + RANDOM))
family=() families=() writes=()
[[ -z ${FAMILY:-} ]] || family=(--family "$FAMILY") families=(--families "$FAMILY")
[[ $engine != vllm ]] || writes=(--vllm colocate)
read -ra sft <<<"${SFT:-}"
read -ra grpo <<<"${GRPO:-}"
read -ra eval <<<"${EVAL:-}"

evaluate() { # agent, result
    agentworld eval agent --agent "$engine:$1" --domains "$name" --level 1 "${family[@]}" --tasks "$tasks" \
        --seed "$seed" --sampling max_tokens=128 "${eval[@]}" --out "$out/$2.json"
}

agentworld rollout "$name" --policy expert --level 1 "${family[@]}" -n "$sessions" --out "$out/expert"
agentworld export "$out/expert" --format chat --out "$out/chat"
evaluate "$model" as-it-is
python "$here/sft.py" "$out/chat" --model "$model" --rate 2e-5 "${sft[@]}" --out "$out/imitates"
evaluate "$out/imitates" imitates
python "$here/grpo.py" --model "$out/imitates" --env "AgentWorld/$domain-v0" "${families[@]}" --world "$world" \
    --steps "$steps" "${writes[@]}" "${grpo[@]}" --out "$out/dreamt"
evaluate "$out/dreamt" dreamt
agentworld eval report "$out/as-it-is.json" "$out/imitates.json" "$out/dreamt.json" --out "$out/page.html"
