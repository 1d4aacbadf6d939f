import { formatBps } from '../amounts.ts'
import { Notice } from '../parts/notice.tsx'

type Props = { loss: number | undefined; isConfirmed: boolean; onChange(isConfirmed: boolean): void }

/** A loss that is probably a mistake is signed only after a deliberate second step. */
export function LossConfirmation({ loss, isConfirmed, onChange }: Props) {
  const words =
    loss === undefined
      ? 'The value of this swap is not known: it may be much lower than what you pay.'
      : `You lose ${formatBps(loss)} of the value.`
  return (
    <Notice tone="bad">
      <p>
        <strong>{words}</strong>
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={isConfirmed}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span>
          {loss === undefined ? 'I accept an unknown value' : `I accept to lose ${formatBps(loss)}`}
        </span>
      </label>
    </Notice>
  )
}
