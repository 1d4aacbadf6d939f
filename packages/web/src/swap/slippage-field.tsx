import { useId } from 'preact/hooks'
import { SLIPPAGES, slippageNote } from './slippage.ts'

type Props = { value: string; onChange(text: string): void }

/** How much less than the price the user accepts at worst. */
export function SlippageField({ value, onChange }: Props) {
  const id = useId()
  const note = slippageNote(value)
  const isOwn = !(SLIPPAGES as readonly string[]).includes(value)
  return (
    <details class="slippage" open={note !== undefined || undefined}>
      <summary>Slippage: {value === '' ? 'automatic' : `${value.replace(/\s*%$/, '')} %`}</summary>
      <fieldset class="slippages" aria-label="Slippage">
        {SLIPPAGES.map((each) => (
          <button
            key={each}
            type="button"
            class="choice"
            aria-pressed={each === value}
            onClick={() => onChange(each)}
          >
            {each === '' ? 'Auto' : `${each} %`}
          </button>
        ))}
        <label>
          <span class="unseen">Own slippage in percent</span>
          <input
            inputMode="decimal"
            autoComplete="off"
            placeholder="Own, %"
            aria-describedby={id}
            value={isOwn ? value : ''}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        </label>
      </fieldset>
      <p class="fine" id={id} role="status">
        {note ?? 'If the output would be lower than this allows, your input comes back instead.'}
      </p>
    </details>
  )
}
