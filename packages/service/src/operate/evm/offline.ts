import { writeFileSync } from 'node:fs'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import {
  type Address,
  type Hex,
  isAddressEqual,
  isHex,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerialized,
} from 'viem'
import { UsageError } from '../../command.ts'
import { address, chainId, digits, strict, text } from '../../config/fields.ts'
import type { EvmChainConfig } from '../../config.ts'
import { openWallet } from './wallet.ts'

const Intent = Type.Object(
  {
    chain: text('Its name in the configuration.'),
    chainId: chainId('EIP-155.'),
    from: address('The only sender whose signature is taken.'),
    nonce: Type.Integer({ minimum: 0 }),
    to: address('The contract, or the payee.'),
    value: digits('In wei.'),
    data: Type.String({ pattern: '^0x([0-9a-fA-F]{2})*$' }),
    gas: digits('Limit.'),
    maxFeePerGas: digits('In wei.'),
    maxPriorityFeePerGas: digits('In wei.'),
    text: text('For people.'),
    unsigned: text('The same, as a wallet hashes and signs it.'),
  },
  strict,
)
export type Intent = Static<typeof Intent>
const Exported = Type.Object(
  { geoswapTransactions: Type.Literal(1), transactions: Type.Array(Intent) },
  strict,
)

type Call = { to: Address; value?: bigint; data: Hex; text: string }
export type CallsOf = { chain: EvmChainConfig; from: Address; calls: readonly Call[] }

// Of a call that cannot be estimated before the one that precedes it. Unused gas costs nothing.
const UNKNOWN_GAS = 1_000_000n
// Hours may pass until the signature comes. The sender pays only the fee of the block.
const HEADROOM = 2n

/** Writes the calls as transactions with the sender's next nonces, for a wallet elsewhere to sign. */
export async function exportCalls(file: string, batches: readonly CallsOf[]): Promise<number> {
  const transactions = (await Promise.all(batches.map(toIntents))).flat()
  writeFileSync(file, `${JSON.stringify({ geoswapTransactions: 1, transactions }, null, 2)}\n`)
  return transactions.length
}

async function toIntents({ chain, from, calls }: CallsOf): Promise<Intent[]> {
  if (calls.length === 0) return []
  const { client, readFees, nextNonce } = await openWallet(chain, { address: from })
  const { maxFeePerGas, maxPriorityFeePerGas } = await readFees()
  return Promise.all(
    calls.map(async ({ to, value = 0n, data, text }, index) => {
      const estimate = client.estimateGas({ account: from, to, value, data })
      const gas = await estimate.then(
        (least) => least + least / 4n,
        () => UNKNOWN_GAS,
      )
      const fees = { gas, maxFeePerGas: HEADROOM * maxFeePerGas, maxPriorityFeePerGas }
      const sent = { chainId: chain.chainId, nonce: nextNonce() + index, to, value, data, ...fees }
      return {
        chain: chain.name,
        chainId: chain.chainId,
        from,
        nonce: sent.nonce,
        to,
        value: String(value),
        data,
        gas: String(gas),
        maxFeePerGas: String(fees.maxFeePerGas),
        maxPriorityFeePerGas: String(maxPriorityFeePerGas),
        text,
        unsigned: serializeTransaction({ type: 'eip1559', ...sent }),
      }
    }),
  )
}

export function parseExport(content: string): Intent[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(content)
  } catch {
    throw new UsageError('The file of transactions is not JSON.')
  }
  if (!Value.Check(Exported, parsed)) throw new UsageError('This is no file that --export wrote.')
  return parsed.transactions
}

export type SignedIntent = { intent: Intent; raw: TransactionSerialized }

/** Pairs each signed transaction with its intent, without gaps. Throws if one is anything else than was exported. */
export async function pairSigned(
  intents: readonly Intent[],
  lines: readonly string[],
): Promise<SignedIntent[]> {
  const pairs: SignedIntent[] = []
  for (const [index, line] of lines.entries()) {
    const found = await readSigned(line)
    const refuse = (why: string) =>
      new UsageError(`Signed transaction ${index + 1} ${why}. Nothing was sent.`)
    if (!found) throw refuse('is no signed EIP-1559 transaction')
    const { transaction, sender } = found
    const intent = intents.find(
      ({ chainId, from, nonce }) =>
        chainId === transaction.chainId &&
        nonce === (transaction.nonce ?? 0) &&
        isAddressEqual(from as Address, sender),
    )
    if (!intent)
      throw refuse(
        `is of ${sender}, chain ${transaction.chainId}, nonce ${transaction.nonce ?? 0}: none was exported`,
      )
    const difference = differenceOf(intent, transaction)
    if (difference) throw refuse(difference)
    if (pairs.some((pair) => pair.intent === intent)) throw refuse('has the nonce of an earlier one')
    pairs.push({ intent, raw: found.raw })
  }
  refuseGaps(intents, pairs)
  return pairs.sort((a, b) => a.intent.nonce - b.intent.nonce)
}

async function readSigned(line: string) {
  if (!isHex(line)) return undefined
  const raw = line as TransactionSerialized
  try {
    const transaction = parseTransaction(raw)
    if (transaction.type !== 'eip1559') return undefined
    return { raw, transaction, sender: await recoverTransactionAddress({ serializedTransaction: raw }) }
  } catch {
    return undefined
  }
}

type Transaction = NonNullable<Awaited<ReturnType<typeof readSigned>>>['transaction']

/** A wallet may choose gas and fees, up to twice the exported ones, and nothing else. */
function differenceOf(intent: Intent, transaction: Transaction): string | undefined {
  const { to, value = 0n, data = '0x', accessList = [] } = transaction
  if (!to || !isAddressEqual(to, intent.to as Address))
    return `pays or calls ${to ?? 'nobody'}, not ${intent.to}`
  if (value !== BigInt(intent.value)) return `sends ${value} wei, not ${intent.value}`
  if (data.toLowerCase() !== intent.data.toLowerCase()) return 'has other data than was exported'
  if (accessList.length > 0) return 'has an access list'
  const bounded = ['gas', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const
  const over = bounded.find((name) => (transaction[name] ?? 0n) > 2n * BigInt(intent[name]))
  return over && `has ${transaction[over]} as ${over}, more than twice the exported ${intent[over]}`
}

/** A later nonce without an earlier one would wait for ever. */
function refuseGaps(intents: readonly Intent[], pairs: readonly SignedIntent[]): void {
  const isSigned = (intent: Intent) => pairs.some((pair) => pair.intent === intent)
  const gap = intents.find(
    (intent) =>
      !isSigned(intent) &&
      pairs.some(({ intent: { chainId, nonce } }) => chainId === intent.chainId && nonce > intent.nonce),
  )
  if (gap)
    throw new UsageError(
      `Nonce ${gap.nonce} on ${gap.chain} is not signed, but a later one. Nothing was sent.`,
    )
}
