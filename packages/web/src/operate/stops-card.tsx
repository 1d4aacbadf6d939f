import type { OperatorOverview, OperatorPause, OperatorStop } from '@geoswap/wire'
import { useState } from 'preact/hooks'
import { Notice, Problem } from '../parts/notice.tsx'
import { explainOperator, type OperatorClient } from './client.ts'
import { chainName } from './money-cards.tsx'
import { Badge } from './table.tsx'
import { momentOf, scopeInWords } from './words.ts'

type PauseFormProps = { overview: OperatorOverview; onPause(pause: OperatorPause): Promise<boolean> }

/** Asks for the scope and the reason, then for a confirmation. */
function PauseForm({ overview, onPause }: PauseFormProps) {
  const [chain, setChain] = useState('')
  const [asset, setAsset] = useState('')
  const [note, setNote] = useState('')
  const [isAsking, setAsking] = useState(false)
  const scope = { chainId: chain ? Number(chain) : undefined, asset: asset || undefined }
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

type Props = { overview: OperatorOverview; client: OperatorClient; onChange(): void }

/** The stops in effect, with author and reason, and the switches. */
export function StopsCard({ overview, client, onChange }: Props) {
  const [error, setError] = useState<unknown>()
  /** True if the action succeeded. */
  const act = async (work: () => Promise<unknown>): Promise<boolean> => {
    setError(undefined)
    const failure = await work().then(
      () => undefined,
      (thrown: unknown) => ({ thrown }),
    )
    if (failure) setError(failure.thrown)
    onChange()
    return failure === undefined
  }
  return (
    <section class="card wide-card" aria-labelledby="stops">
      <h2 id="stops">Pause switches</h2>
      {error ? <Problem explained={explainOperator(error)} /> : null}
      {overview.stops.length === 0 && <p class="fine">Everything is quoted.</p>}
      {overview.stops.map((stop) => (
        <StopRow
          key={stop.id}
          stop={stop}
          what={stop.scope.from ? stop.what : wordsOf(overview, stop)}
          onResume={(note) => act(() => client.resume(stop.id, { note }))}
        />
      ))}
      <PauseForm overview={overview} onPause={(pause) => act(() => client.pause(pause))} />
    </section>
  )
}

function wordsOf(overview: OperatorOverview, { scope: { asset, chainId } }: OperatorStop): string {
  return scopeInWords(asset, chainId === undefined ? undefined : chainName(overview, chainId))
}

type RowProps = { stop: OperatorStop; what: string; onResume(note: string): Promise<boolean> }

function StopRow({ stop, what, onResume }: RowProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <div class="stop">
      <div class="card-head">
        <p>
          <Badge tone={stop.why === 'drift' ? 'bad' : 'warn'}>{stop.why}</Badge> <strong>{what}</strong>:{' '}
          {stop.note}
        </p>
        {!isAsking && (
          <button type="button" class="secondary" onClick={() => setAsking(true)}>
            Resume {what}
          </button>
        )}
      </div>
      <p class="fine">
        Stop {stop.id} by {stop.by}, since {momentOf(stop.since)}
      </p>
      {isAsking && (
        <ResumeForm stop={stop} what={what} onResume={onResume} onCancel={() => setAsking(false)} />
      )}
    </div>
  )
}

function ResumeForm({ stop, what, onResume, onCancel }: RowProps & { onCancel(): void }) {
  const [note, setNote] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    await onResume(note.trim())
    setBusy(false)
  }
  return (
    <form class="stack" onSubmit={submit}>
      {stop.why === 'drift' && (
        <Notice tone="warn">
          <p>The chain and the books differ. Resume only when you know why.</p>
        </Notice>
      )}
      <label class="field">
        <span>Reason for resuming</span>
        <input maxLength={500} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <div class="actions">
        <button type="submit" class="primary" disabled={!note.trim() || isBusy}>
          Quote {what} again
        </button>
        <button type="button" class="secondary" onClick={onCancel}>
          Leave it stopped
        </button>
      </div>
    </form>
  )
}
