import Type from 'typebox'
import { count, range, strict } from './fields.ts'

const share = (of: string, bps: number) =>
  Type.Optional(
    range(1, 10_000, `Of swaps of one ${of}, in basis points of what is left of the token. Default ${bps}.`),
  )

const WastedGas = Type.Object(
  {
    walletCents: Type.Optional(count('For swaps of one wallet. Default 200.')),
    accountCents: Type.Optional(count('For swaps of one account. Default 2000.')),
    chainCents: Type.Optional(count('On one chain, for all swaps. Default 10000.')),
  },
  {
    ...strict,
    description:
      'Gas that locks and deliveries without effect may cost per hour, in cents of a US dollar. Beyond it builds and ' +
      'submissions are refused until the next hour: all of the wallet, those of wallets unknown to the account, and ' +
      'on the chain those of unknown contract wallets. An account knows a wallet with a settled swap.',
  },
)

const Reservations = Type.Object(
  { walletBps: share('wallet', 2_500), accountBps: share('account', 5_000) },
  {
    ...strict,
    description:
      'Largest part of a token that swaps may reserve before their inputs are locked. That of an account whose locks ' +
      'failed lately is smaller, down to a tenth.',
  },
)

export const Budgets = Type.Object(
  { wastedGas: Type.Optional(WastedGas), reservations: Type.Optional(Reservations) },
  { ...strict, description: 'What strangers may cost or hold back.' },
)
