import { useState } from 'preact/hooks'
import { explain } from './explain.ts'
import type { Place } from './kept.ts'
import { Problem } from './parts/notice.tsx'

/** Asks for the API key. It stays in this tab unless the user wants otherwise. */
export function KeyForm({ onKey, error }: { onKey(key: string, place: Place): void; error: unknown }) {
  const [key, setKey] = useState('')
  const [isKept, setKept] = useState(false)
  const submit = (event: Event) => {
    event.preventDefault()
    if (key.trim()) onKey(key.trim(), isKept ? 'browser' : 'tab')
  }
  return (
    <section class="card narrow">
      <h1>API key</h1>
      <p>Swaps belong to an API key. The operator of this service gives them out; they begin with gsk_.</p>
      {error ? <Problem explained={explain(error)} /> : null}
      <form onSubmit={submit} class="stack">
        <label class="field">
          <span>Your key</span>
          <input
            type="password"
            autoComplete="off"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isKept}
            onChange={(event) => setKept(event.currentTarget.checked)}
          />
          Remember it in this browser. Otherwise it is gone with this tab.
        </label>
        <button type="submit" class="primary">
          Use this key
        </button>
      </form>
    </section>
  )
}
