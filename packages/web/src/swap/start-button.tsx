import { ActionButton } from '../parts/action-button.tsx'

type Props = {
  /** Says what is missing before the swap can be reviewed. */
  words: string | undefined
  /** Says what the page is doing. */
  work: string | undefined
  hasWallet: boolean
  hasQuote: boolean
  onConnect(): void
  onStart(): void
}

/** The next step: connect a wallet, complete the order, or review it. */
export function StartButton({ words, work, hasWallet, hasQuote, onConnect, onStart }: Props) {
  if (!hasWallet)
    return (
      <ActionButton class="primary wide" onClick={onConnect}>
        Connect wallet
      </ActionButton>
    )
  const isReady = words === undefined && work === undefined && hasQuote
  return (
    <>
      <ActionButton class="primary wide" isDisabled={!isReady} onClick={onStart}>
        {work ?? words ?? 'Review the swap'}
      </ActionButton>
      <p class="unseen" role="status">
        {work ?? words}
      </p>
    </>
  )
}
