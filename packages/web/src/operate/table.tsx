import type { ComponentChildren } from 'preact'

type Row = { key: string; cells: readonly ComponentChildren[] }
type Props = { label: string; heads: readonly string[]; rows: readonly Row[]; none: string }

/** A table that becomes cards on a phone; a sentence if it is empty. */
export function Table({ label, heads, rows, none }: Props) {
  if (rows.length === 0) return <p class="fine">{none}</p>
  return (
    <table class="history dense" aria-label={label}>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, index) => (
              <td key={heads[index]} data-name={heads[index]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function Badge({ tone, children }: { tone: 'good' | 'warn' | 'bad'; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}
