import { useSession } from '../service/session.ts'

/** In place of content that needs a wallet. */
export function NoWallet({ words }: { words: string }) {
  const { wallets } = useSession()
  return (
    <div class="stack">
      <p class="prose">{words}</p>
      <button type="button" class="primary" onClick={wallets.choose}>
        Connect wallet
      </button>
    </div>
  )
}
