import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

type Props = {
  label: string
  /** Called with the entered text, unless it is empty. */
  onSecret(secret: string): void
  /** Rendered between the field and the button. */
  children?: ComponentChildren
}

/** A masked field for one secret, which a password manager may fill in. */
export function SecretForm({ label, onSecret, children }: Props) {
  const [secret, setSecret] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (secret.trim()) onSecret(secret.trim())
  }
  return (
    <form onSubmit={submit} class="stack">
      <label class="field">
        <span>{label}</span>
        <input
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </label>
      {children}
      <button type="submit" class="primary">
        Use this key
      </button>
    </form>
  )
}
