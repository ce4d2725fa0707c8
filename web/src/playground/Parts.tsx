/** Equation 15: the advantage of Poly-EPO as three parts that add up, sample by sample. */

import { signed } from "../components/SignedBar";
import { Term } from "../components/Term";
import { sum } from "../maths";
import { decomposition, pointed } from "./results";

const KINDS = [
  ["reward", "more reward"],
  ["diversity", "more variety"],
  ["covariance", "both together"],
] as const;

export function Parts() {
  const parts = decomposition.value;
  const rows = parts.rewardPart.map((reward, i) => [reward, parts.diversityPart[i]!, parts.covariancePart[i]!]);
  const reach = Math.max(1e-12, ...rows.flatMap((row) => row.map((_, at) => Math.abs(sum(row.slice(0, at + 1))))));
  return (
    <>
      <p class="key" aria-hidden="true">
        {KINDS.map(([kind, text]) => (
          <span key={kind}>
            <svg width="18" height="12">
              <rect width="18" height="12" class={`part ${kind}`} />
            </svg>{" "}
            {text}
          </span>
        ))}
        <span>
          <svg width="12" height="12">
            <circle cx="6" cy="6" r="4.5" class="total" />
          </svg>{" "}
          their sum: the advantage
        </span>
      </p>
      <div class="scroll" role="region" tabIndex={0} aria-label="The parts of each sample">
        <table class="parts">
          <caption class="hidden">The advantage of Poly-EPO in three parts</caption>
          <thead>
            <tr>
              <th scope="col">Sample</th>
              <th scope="col" class="steps">
                the parts, one after the other
              </th>
              <th scope="col">
                <Term name="rewardPart">more reward</Term>
              </th>
              <th scope="col">
                <Term name="diversityPart">+ more variety</Term>
              </th>
              <th scope="col">
                <Term name="covariancePart">+ both together</Term>
              </th>
              <th scope="col">= advantage</th>
              <th scope="col">
                <Term name="rewardWith">E[reward]</Term>
              </th>
              <th scope="col">
                <Term name="diversityWith">E[diversity]</Term>
              </th>
              <th scope="col">
                <Term name="covarianceWith">Cov</Term>
              </th>
            </tr>
          </thead>
          <tbody>
            <tr class="all">
              <th scope="row">all sets</th>
              <td colSpan={5} />
              <td>{parts.reward.toFixed(3)}</td>
              <td>{parts.diversity.toFixed(3)}</td>
              <td>{signed(parts.covariance)}</td>
            </tr>
            {rows.map((row, i) => (
              <tr
                key={i}
                class={pointed.value === i ? "pointed" : undefined}
                onMouseEnter={() => {
                  pointed.value = i;
                }}
              >
                <th scope="row">y{i + 1}</th>
                <td class="steps">
                  <Steps row={row} reach={reach} />
                </td>
                {row.map((part, at) => (
                  <td key={at}>{signed(part)}</td>
                ))}
                <td>
                  <strong>{signed(sum(row))}</strong>
                </td>
                <td>{fixed(parts.rewardWith[i]!)}</td>
                <td>{fixed(parts.diversityWith[i]!)}</td>
                <td>{signed(parts.covarianceWith[i]!)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const fixed = (value: number): string => (Number.isNaN(value) ? "–" : value.toFixed(3));

/** Each part starts where the one before it ended; the dot is where the last one ends. */
function Steps({ row, reach }: { row: readonly number[]; reach: number }) {
  const place = (value: number) => 100 + (92 * value) / reach;
  if (row.some(Number.isNaN)) return null;
  return (
    <svg viewBox="0 0 200 44" class="waterfall" aria-hidden="true">
      <line x1="100" x2="100" y1="0" y2="44" class="zero" />
      {row.map((part, at) => {
        const from = sum(row.slice(0, at));
        const [left, right] = [place(Math.min(from, from + part)), place(Math.max(from, from + part))];
        return (
          <rect key={at} x={left} width={right - left} y={2 + at * 10} height="9" class={`part ${KINDS[at]![0]}`} />
        );
      })}
      <circle cx={place(sum(row))} cy="37.5" r="4.5" class="total" />
    </svg>
  );
}
