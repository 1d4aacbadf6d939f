import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

type Props = {
  label: string
  /** Gets what was typed, unless that is nothing. */
  onSecret(secret: string): void
  /** What stands between the field and the button. */
  children?: ComponentChildren
}

/** One secret, which is not shown while it is typed, and which a password manager may fill in. */
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
