/** One metric of training runs by step. */

import { useMemo } from "preact/hooks";
import { Curves } from "../../components/Curves";
import { Figure } from "../../components/Figure";
import { visible } from "../../components/visible";
import type { Run } from "../api";
import { lookOf } from "../looks";
import type { Line } from "./lines";
import { inWords, points, withoutCredit } from "./steps";

interface MetricProps {
  name: string;
  lines: readonly Line[];
  run: Run;
  window: number;
  onPick: ((step: number) => void) | undefined;
}

const short = (value: number): string => String(Number(value.toPrecision(4))).replace("-", "−");

export function Metric({ name, lines, run, window, onPick }: MetricProps) {
  const curves = useMemo(
    () =>
      lines
        .map((line) => ({
          look: {
            ...lookOf(run, line.arm),
            ...(lines.some((one) => one.arm === line.arm && one !== line)
              ? { label: `${lookOf(run, line.arm).label} seed ${line.seed}` }
              : {}),
          },
          points: points(line.steps.values(), name, window),
        }))
        .filter((curve) => curve.points.length),
    [lines, name, window],
  );
  const alarms = useMemo(
    () =>
      [...new Set(lines.map(({ arm }) => arm))]
        .map((arm) => ({
          label: lookOf(run, arm).label,
          hue: lookOf(run, arm).hue,
          at: [...new Set(lines.flatMap((line) => (line.arm === arm ? withoutCredit(line.steps.values()) : [])))],
        }))
        .filter(({ at }) => at.length),
    [lines, run],
  );
  const last = curves.map(({ look, points: of }) => `${look.label}: ${of.at(-1)!.y.toPrecision(3)}`);
  const isFlat = curves.every(({ points: of }) => of.every(({ y }) => y === 0));
  return (
    <Figure
      title={
        run.titles[name] ??
        visible(name)
          .split(/(?<=[/_])/)
          .flatMap((part) => [part, <wbr key={part} />])
      }
      file={name.replaceAll(/[^\w@]+/g, "_")}
      rows={() => [
        ["line", "step", name],
        ...curves.flatMap(({ look, points: of }) => of.map(({ x, y }) => [look.label, x, y])),
      ]}
    >
      <Curves
        curves={curves}
        height={190}
        label={`${visible(name)} by step; last values: ${last.join(", ")}${alarms.map(({ label, at }) => `; ${label} had no credit at ${inWords(at)}`).join("")}`}
        x={{ label: "step", name: "step" }}
        y={{ label: "", format: short, tick: short, domain: isFlat ? [0, 1] : undefined }}
        onPick={onPick}
        alarms={alarms}
      />
    </Figure>
  );
}
