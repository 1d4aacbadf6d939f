import { type Address, address, createSolanaRpc, type Signature } from '@solana/kit'
import { mapConcurrently } from './concurrency.ts'
import type { OpEvent } from './evm-evidence.ts'
import { type ChainSetup, nodeOf } from './input.ts'

const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
].map(address)
const MEMO = /[0-9a-f]{64}/

/** The balance changes of a successful transaction. */
type Effect = {
  txHash: string
  slot: number
  memo: string
  feePayer: string
  /** The amount that left the fee payer. */
  spent: bigint
  /** By owner and mint. */
  tokens: Map<string, bigint>
}

export type SolanaEvidence = {
  chain: ChainSetup
  opEvents: OpEvent[]
  effects: Effect[]
  balanceOf(owner: string, mint: string): Promise<bigint>
  supplyOf(mint: string): Promise<bigint>
}

type Rpc = ReturnType<typeof createSolanaRpc>

/** All transfers into and out of the two vaults, from balances and memos. */
export async function readSolanaEvidence(chain: ChainSetup): Promise<SolanaEvidence> {
  const rpc = createSolanaRpc(nodeOf(chain))
  const { intake, inventory } = chain.vaults ?? { intake: '', inventory: '' }
  const owners = [address(intake), address(inventory)]
  const accounts = (await Promise.all(owners.map((owner) => tokenAccountsOf(rpc, owner)))).flat()
  const addresses = [...owners, ...accounts.map(({ pubkey }) => pubkey)]
  const memos = new Map<Signature, string>()
  for (const each of addresses)
    for (const [signature, memo] of await memosOf(rpc, each)) memos.set(signature, memo)
  const effects = (await mapConcurrently([...memos], (noted) => readEffect(rpc, noted))).flat()
  const opEvents = effects.flatMap((effect) => toOpEvents(chain, effect, { intake, inventory }))
  return {
    ...{ chain, opEvents, effects },
    async supplyOf(mint) {
      const { value } = await rpc.getTokenSupply(address(mint), { commitment: 'confirmed' }).send()
      return BigInt(value.amount)
    },
    async balanceOf(owner, mint) {
      const held = await tokenAccountsOf(rpc, address(owner))
      return held.filter((each) => each.mint === mint).reduce((sum, { amount }) => sum + amount, 0n)
    },
  }
}

async function tokenAccountsOf(rpc: Rpc, owner: Address) {
  const found = await Promise.all(
    TOKEN_PROGRAMS.map((programId) =>
      rpc
        .getTokenAccountsByOwner(owner, { programId }, { commitment: 'confirmed', encoding: 'jsonParsed' })
        .send(),
    ),
  )
  return found.flatMap(({ value }) =>
    value.map(({ pubkey, account }) => {
      const { info } = account.data.parsed
      return { pubkey, mint: info.mint as string, amount: BigInt(info.tokenAmount.amount) }
    }),
  )
}

/** The successful transactions that name an op, with its id. */
async function memosOf(rpc: Rpc, of: Address): Promise<[Signature, string][]> {
  const all: [Signature, string][] = []
  for (let before: Signature | undefined; ; ) {
    const options = { commitment: 'finalized', limit: 1_000, ...(before && { before }) } as const
    const page = await rpc.getSignaturesForAddress(of, options).send()
    for (const { signature, err, memo } of page) {
      const name = MEMO.exec(memo ?? '')?.[0]
      if (err === null && name) all.push([signature, name])
    }
    before = page.at(-1)?.signature
    if (page.length < 1_000) return all
  }
}

async function readEffect(rpc: Rpc, [signature, memo]: [Signature, string]): Promise<Effect[]> {
  const options = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const found = await rpc.getTransaction(signature, options).send()
  if (!found?.meta || found.meta.err !== null) return []
  const { meta, transaction, slot } = found
  const tokens = new Map<string, bigint>()
  const add = (balances: typeof meta.postTokenBalances, sign: bigint) => {
    for (const { owner, mint, uiTokenAmount } of balances ?? []) {
      const key = `${owner} ${mint}`
      tokens.set(key, (tokens.get(key) ?? 0n) + sign * BigInt(uiTokenAmount.amount))
    }
  }
  add(meta.preTokenBalances, -1n)
  add(meta.postTokenBalances, 1n)
  const spent = (meta.preBalances[0] ?? 0n) - (meta.postBalances[0] ?? 0n)
  const feePayer = transaction.message.accountKeys[0] ?? ''
  return [{ txHash: signature, slot: Number(slot), memo, feePayer, spent, tokens }]
}

function toOpEvents(
  chain: ChainSetup,
  effect: Effect,
  vaults: { intake: string; inventory: string },
): OpEvent[] {
  const base = { id: `0x${effect.memo}`, chainId: chain.chainId, txHash: effect.txHash, block: effect.slot }
  const of = (owner: string) =>
    [...effect.tokens].flatMap(([key, amount]) =>
      key.startsWith(`${owner} `) && amount !== 0n ? [amount] : [],
    )
  const [intake = 0n] = of(vaults.intake)
  const [inventory = 0n] = of(vaults.inventory)
  if (intake > 0n) return [{ kind: 'lock', amount: intake, ...base }]
  if (intake < 0n && inventory > 0n) return [{ kind: 'claim', amount: -intake, ...base }]
  if (intake < 0n) return [{ kind: 'refund', amount: -intake, ...base }]
  return inventory < 0n ? [{ kind: 'deliver', amount: -inventory, ...base }] : []
}
