import type { Way } from './way.ts'

/** On Solana the wallet signs the transaction that takes its input. */
export const transaction: Way<'transaction'> = {
  name: 'transaction',
  signs: 'transaction',
  isBatched: true,
  isSimulated: false,
  takes: () => true,
  canPay: () => true,
}
