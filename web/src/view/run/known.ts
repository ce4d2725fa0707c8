/** Shares that may be unknown, as text. */

import { percent as shownPercent, points as shownPoints } from "../../components/format";

export const percent = (share: number | null | undefined): string => (share == null ? "unknown" : shownPercent(share));
export const points = (share: number | null | undefined): string => (share == null ? "unknown" : shownPoints(share));
