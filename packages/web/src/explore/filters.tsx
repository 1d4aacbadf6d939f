import { useMedia } from '../parts/use-media.ts'
import { go, hrefOf } from '../route.ts'

const FILTERS = ['status', 'from', 'to']

const STATUSES = [
  ['', 'All'],
  ['pending', 'Under way'],
  ['settled', 'Settled'],
  ['refunded', 'Refunded'],
  ['failed', 'Failed'],
] as const

/**
 * Folded where they would fill the screen. Each change has its own URL, so that it can be shared and the back
 * button works.
 */
export function Filters({ query }: { query: URLSearchParams }) {
  const isNarrow = useMedia('(max-width: 44rem)')
  const set = (name: string, value: string) => {
    const next = new URLSearchParams(query)
    if (value) next.set(name, value)
    else next.delete(name)
    go(hrefOf('explore', Object.fromEntries(next)))
  }
  const count = FILTERS.filter((name) => query.has(name)).length
  const fields = (
    <div class="filters">
      <label class="field">
        <span>Status</span>
        <select
          value={query.get('status') ?? ''}
          onChange={(event) => set('status', event.currentTarget.value)}
        >
          {STATUSES.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {(['from', 'to'] as const).map((name) => (
        <label class="field" key={name}>
          <span>{name === 'from' ? 'From' : 'Until'}</span>
          <input
            type="date"
            value={query.get(name) ?? ''}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        </label>
      ))}
      {query.size > 0 && (
        <button type="button" class="secondary" onClick={() => go(hrefOf('explore'))}>
          Clear
        </button>
      )}
    </div>
  )
  if (!isNarrow) return fields
  return (
    <details class="filters-fold">
      <summary>Filters{count > 0 && `: ${count} in use`}</summary>
      {fields}
    </details>
  )
}
