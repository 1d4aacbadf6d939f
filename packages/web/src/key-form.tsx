import { explain } from './explain.ts'
import { Problem } from './parts/notice.tsx'
import { SecretForm } from './parts/secret-form.tsx'

/** Asks for the API key. It stays in this tab; only the browser's password manager can store it. */
export function KeyForm({ onKey, error }: { onKey(key: string): void; error: unknown }) {
  return (
    <section class="card narrow">
      <h1>API key</h1>
      <p>Swaps belong to an API key. The operator of this service gives them out; they begin with gsk_.</p>
      {error ? <Problem explained={explain(error)} /> : null}
      <SecretForm label="Your key" onSecret={onKey}>
        <p class="hint">It is gone with this tab. Your password manager can keep it.</p>
      </SecretForm>
    </section>
  )
}
