import type { OperatorOverview, OperatorPause } from '@geoswap/wire'
import { useState } from 'preact/hooks'
import { Notice } from '../parts/notice.tsx'
import { chainName } from './money-cards.tsx'
import { scopeInWords } from './words.ts'

type Props = { overview: OperatorOverview; onPause(pause: OperatorPause): Promise<boolean> }

/** Asks for the scope and the reason, then for a confirmation. */
export function PauseForm({ overview, onPause }: Props) {
  const [chain, setChain] = useState('')
  const [asset, setAsset] = useState('')
  const [note, setNote] = useState('')
  const [isAsking, setAsking] = useState(false)
  const scope = { ...(chain && { chainId: Number(chain) }), ...(asset && { asset }) }
  const what = scopeInWords(asset || undefined, chain ? chainName(overview, Number(chain)) : undefined)

  const confirm = async () => {
    setAsking(false)
    if (await onPause({ scope, note: note.trim() })) setNote('')
  }
  if (isAsking) return <Question what={what} note={note} onYes={confirm} onNo={() => setAsking(false)} />
  const ask = (event: Event) => {
    event.preventDefault()
    setAsking(true)
  }
  return (
    <form class="filters" onSubmit={ask}>
      <Choice label="Chain" none="Every chain" value={chain} onChoose={setChain}>
        {overview.chains.map(({ chainId, name }) => ({ value: String(chainId), name }))}
      </Choice>
      <Choice label="Asset" none="Every asset" value={asset} onChoose={setAsset}>
        {overview.assets.map((name) => ({ value: name, name }))}
      </Choice>
      <label class="field note">
        <span>Why</span>
        <input maxLength={500} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <button type="submit" class="secondary" disabled={!note.trim()}>
        Pause…
      </button>
    </form>
  )
}

function Question({ what, note, onYes, onNo }: { what: string; note: string; onYes(): void; onNo(): void }) {
  return (
    <Notice tone="warn">
      <p>
        <strong>Stop quoting {what}?</strong> Every API process refuses quotes with it from now on, on either
        side of a swap. What was quoted before can still be submitted, and what was submitted is finished.
      </p>
      <p>Why: {note}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={onYes}>
          Stop {what}
        </button>
        <button type="button" class="secondary" onClick={onNo}>
          Do not stop it
        </button>
      </div>
    </Notice>
  )
}

type ChoiceProps = {
  label: string
  none: string
  value: string
  onChoose(value: string): void
  children: readonly { value: string; name: string }[]
}

function Choice({ label, none, value, onChoose, children }: ChoiceProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">{none}</option>
        {children.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </select>
    </label>
  )
}
