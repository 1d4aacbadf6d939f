import { useState } from 'preact/hooks'
import { explain } from './explain.ts'
import type { Place } from './kept.ts'
import { Problem } from './parts/notice.tsx'
import { SecretForm } from './parts/secret-form.tsx'

/** Asks for the API key. It stays in this tab unless the user wants otherwise. */
export function KeyForm({ onKey, error }: { onKey(key: string, place: Place): void; error: unknown }) {
  const [isKept, setKept] = useState(false)
  return (
    <section class="card narrow">
      <h1>API key</h1>
      <p>Swaps belong to an API key. The operator of this service gives them out; they begin with gsk_.</p>
      {error ? <Problem explained={explain(error)} /> : null}
      <SecretForm label="Your key" onSecret={(key) => onKey(key, isKept ? 'browser' : 'tab')}>
        <label class="check">
          <input
            type="checkbox"
            checked={isKept}
            onChange={(event) => setKept(event.currentTarget.checked)}
          />
          Remember it in this browser. Otherwise it is gone with this tab.
        </label>
      </SecretForm>
    </section>
  )
}
