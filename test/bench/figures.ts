import { ms } from './statistics.ts'

/** One line of the result. A figure without a goal is for comparison. */
export type Figure = { name: string; measured: string; baseline: string; goal?: string; ok?: boolean }

export function below(
  name: string,
  { value, limit, baseline }: { value: number; limit: number; baseline: string },
): Figure {
  return { name, measured: ms(value), baseline, goal: `< ${ms(limit)}`, ok: value < limit }
}

export function atLeast(
  name: string,
  figure: { share: number; goal: number; measured: string; baseline: string },
): Figure {
  const { share, goal, measured, baseline } = figure
  const of = `${measured} (${Math.round(share * 100)}%)`
  return { name, measured: of, baseline, goal: `≥ ${Math.round(goal * 100)}%`, ok: share >= goal }
}

export function isTrue(
  name: string,
  { ok, measured, goal }: { ok: boolean; measured: string; goal: string },
): Figure {
  return { name, measured, baseline: '', goal, ok }
}

/** All figures as a Markdown table. */
export function toTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, measured, baseline, goal = '', ok }) => [
    ...[name, measured, baseline, goal, ok === undefined ? '' : ok ? 'ok' : 'MISSED'],
  ])
  const all = [['Figure', 'Measured', 'Baseline', 'Goal', ''], ...rows]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`
  const [head = [], ...body] = all
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join(
    '\n',
  )
}
