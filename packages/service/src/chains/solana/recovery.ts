import type { Address, Signature } from '@solana/kit'
import type { DeliveryTerms, LockTerms, RecoveryChain } from '../recovery.ts'
import type { SolanaBlock } from './blocks.ts'
import { isNative } from './mint.ts'
import type { SolanaParts } from './parts.ts'

// A blockhash is valid for 150 blocks (Agave's MAX_PROCESSING_AGE), and is a little older when it signs.
const BLOCKHASH_LIFE = 150n
// More than can be in flight at once: a late transaction was signed shortly before.
const NEWEST = 1_000

/** Recovers payer, amount and recipient from our transactions, which contain only the op's hash, not its terms. */
export function createSolanaRecovery(parts: SolanaParts): RecoveryChain {
  const { settings } = parts
  return {
    chainId: settings.chainId,
    findLockTerms: (txHash, op) => findLockTerms(parts, txHash, op),
    findDeliveryTerms: (txHash) => findDeliveryTerms(parts, txHash),
    async findDelivery(deliveryHash, _since, at) {
      const { commitment, number: minContextSlot } = at as SolanaBlock
      const ref = { kind: 'deliver', id: deliveryHash, base: settings.vaults.inventory } as const
      const made = (await parts.markers.findCreations([ref], { commitment, minContextSlot })).get(ref)
      if (!made) return undefined
      const paid = paidBy(parts, await readLanded(parts, made.txHash))
      if (!paid) throw new Error(`${made.txHash} created the marker of a delivery but paid nothing`)
      return { txHash: made.txHash, block: made.slot, amount: paid.amount }
    },
    readNextNonce: async () => undefined,
    readNamed: (sender) => readNamed(parts, sender),
    isPaidBy: async (txHash, sender) => (await readLanded(parts, txHash)).keys[0] === sender,
    expiryOf: ({ height }) => height + BLOCKHASH_LIFE,
  }
}

async function readLanded({ client }: SolanaParts, txHash: string) {
  const found = await client.agreed.rpc
    .getTransaction(txHash as Signature, {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  if (!found?.meta) throw new Error(`The node lists ${txHash} but does not return it`)
  const keys: readonly string[] = found.transaction.message.accountKeys
  return { keys, meta: found.meta, seconds: Number(found.blockTime ?? 0) }
}

type Landed = Awaited<ReturnType<typeof readLanded>>

/** The balance changes by owner and token; of the native coin only if no token moved. */
function changesOf({ keys, meta }: Landed) {
  const before = meta.preTokenBalances ?? []
  const after = meta.postTokenBalances ?? []
  const amountIn = (list: typeof after, index: number) =>
    BigInt(list.find(({ accountIndex }) => accountIndex === index)?.uiTokenAmount.amount ?? 0)
  const touched = new Map([...before, ...after].map((held) => [held.accountIndex, held]))
  const tokens = [...touched.values()].map(({ accountIndex, owner, mint }) => ({
    owner: String(owner ?? ''),
    mint: String(mint),
    amount: amountIn(after, accountIndex) - amountIn(before, accountIndex),
  }))
  const lamports = keys.map((owner, index) => ({
    owner,
    mint: undefined,
    amount: (meta.postBalances[index] ?? 0n) - (meta.preBalances[index] ?? 0n),
  }))
  return { tokens: tokens.filter(({ amount }) => amount !== 0n), lamports }
}

/** The wallet is the second signer: the first pays the fee. */
export async function findLockTerms(
  parts: SolanaParts,
  txHash: string,
  op: string,
): Promise<LockTerms | undefined> {
  const { intake } = parts.settings.vaults
  const landed = await readLanded(parts, txHash)
  const [locker, wallet] = landed.keys
  if (!locker || !wallet) return undefined
  const { tokens, lamports } = changesOf(landed)
  const gained = [...tokens, ...lamports].find(({ owner, amount }) => owner === intake && amount > 0n)
  if (!gained) return undefined
  return {
    wallet,
    locker,
    inputAmount: gained.amount,
    deliveryHash: op,
    seconds: landed.seconds,
    inputToken: gained.mint ?? nativeOf(parts),
  }
}

async function findDeliveryTerms(parts: SolanaParts, txHash: string): Promise<DeliveryTerms | undefined> {
  const paid = paidBy(parts, await readLanded(parts, txHash))
  return paid && { outputToken: paid.token, recipient: paid.recipient }
}

/** The payment out of the inventory, and its recipient. */
function paidBy(parts: SolanaParts, landed: Landed) {
  const { inventory } = parts.settings.vaults
  const { tokens, lamports } = changesOf(landed)
  const paid = [...tokens, ...lamports].find(({ owner, amount }) => owner === inventory && amount < 0n)
  if (!paid) return undefined
  const moved = paid.mint === undefined ? lamports : tokens
  const gained = moved.find(
    ({ owner, mint, amount }) => owner !== inventory && mint === paid.mint && amount === -paid.amount,
  )
  return gained && { recipient: gained.owner, amount: gained.amount, token: paid.mint ?? nativeOf(parts) }
}

function nativeOf({ settings }: SolanaParts): string {
  const native = settings.tokens.find((mint) => isNative({ mint }))
  if (!native) throw new Error('The native coin is not served')
  return native
}

/** Newest first. Anyone can write a memo, so it alone proves nothing. */
async function readNamed({ client }: SolanaParts, sender: string) {
  const options = { commitment: 'confirmed', limit: NEWEST } as const
  const found = await client.agreed.rpc.getSignaturesForAddress(sender as Address, options).send()
  return found
    .filter(({ memo }) => memo !== null && /\b[0-9a-f]{64}\b/.test(memo))
    .map(({ signature, slot }) => ({ txHash: signature as string, block: slot }))
}
