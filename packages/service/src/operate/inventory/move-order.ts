import { parseUnits } from 'viem'
import { parseEvmAddress } from '../../chains/evm/address.ts'
import { parseSolanaAddress } from '../../chains/solana/address.ts'
import { parseFlags, UsageError } from '../../command.ts'
import type { ConnectedChain } from '../../compose/connected-chain.ts'
import type { Token } from '../../model/catalog.ts'
import type { Move } from '../../store/treasury-moves.ts'
import { vaultOf } from './holdings.ts'

/** A parsed deposit or withdraw command. */
export type MoveOrder = {
  kind: Move['kind']
  chain: string
  token: string
  amount: string
  to: string | undefined
  once: string | undefined
  isSent: boolean
}

export function parseMove(kind: Move['kind'], args: string[]): MoveOrder {
  const text = { type: 'string' } as const
  const { values } = parseFlags({
    args,
    options: {
      chain: text,
      token: text,
      amount: text,
      to: text,
      once: text,
      yes: { type: 'boolean', default: false },
    },
  })
  const { chain, token, amount, to, once, yes: isSent } = values
  const usage = `inventory ${kind} --chain C --token T --amount A${kind === 'withdraw' ? ' --to ADDRESS' : ''}`
  if (!chain || !token || !amount) throw new UsageError(`Options missing: ${usage}`)
  if ((kind === 'withdraw') !== (to !== undefined)) throw new UsageError(usage)
  if (isSent && once === undefined) {
    throw new UsageError(
      'Preview it first: without --yes, it prints the transaction, and the --once to send it with.',
    )
  }
  return { kind, chain, token, amount, to, once, isSent }
}

/** Parses an exact decimal number of whole coins. */
export function parseCoins(text: string, { decimals, symbol }: Pick<Token, 'decimals' | 'symbol'>): bigint {
  const [, fraction = ''] = text.split('.')
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`${text} is not an amount. Write it as 1500 or 0.25.`)
  if (fraction.length > decimals)
    throw new UsageError(`${symbol} has ${decimals} decimals, ${text} has more.`)
  const amount = parseUnits(text, decimals)
  if (amount === 0n) throw new UsageError('Nothing to move.')
  return amount
}

/** The recipient: the vault, or an address outside of the service. */
export function recipientOf({ kind, to = '' }: MoveOrder, connected: ConnectedChain): string {
  if (kind === 'deposit') return vaultOf(connected)
  const parse = connected.config.family === 'evm' ? parseEvmAddress : parseSolanaAddress
  const address = parse(to)
  if (!address) throw new UsageError(`${to} is not an address on ${connected.config.name}.`)
  if ([...connected.ownAddresses, connected.nativeToken.address].includes(address)) {
    throw new UsageError(`${address} belongs to the service, or to nobody.`)
  }
  return address
}
