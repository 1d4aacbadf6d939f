import { type Address, address, createSolanaRpc, type Signature } from '@solana/kit'
import { mapConcurrently } from './concurrency.ts'
import type { OpEvent } from './evm-evidence.ts'
import { type ChainSetup, nodeOf } from './input.ts'

const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
].map(address)
const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
/** The op's id; an input also has its deadline. */
const MEMO = /([0-9a-f]{64})( \d+)?/

/** The balance changes of a successful transaction. */
type Effect = {
  txHash: string
  slot: number
  memo: string
  isInput: boolean
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
  /** The balance of the escrow for an op. */
  heldFor(opId: string, mint: string): Promise<bigint>
  supplyOf(mint: string): Promise<bigint>
}

type Rpc = ReturnType<typeof createSolanaRpc>

/** All transfers into and out of escrow and vault, from balances and memos. */
export async function readSolanaEvidence(chain: ChainSetup): Promise<SolanaEvidence> {
  const rpc = createSolanaRpc(nodeOf(chain))
  const { vault = '' } = chain
  const effects = (await mapConcurrently(await memosOf(rpc), (noted) => readEffect(rpc, noted))).flat()
  const opEvents = effects.flatMap((effect) => toOpEvents(chain, effect, vault))
  const balanceOf = async (owner: string, mint: string) => {
    const held = await tokenAccountsOf(rpc, address(owner))
    return held.filter((each) => each.mint === mint).reduce((sum, { amount }) => sum + amount, 0n)
  }
  return {
    ...{ chain, opEvents, effects, balanceOf },
    async heldFor(opId, mint) {
      const input = effects.find(({ memo, isInput }) => isInput && `0x${memo}` === opId)
      const [owner] = input ? gainersOf(input) : []
      return owner === undefined ? 0n : balanceOf(owner, mint)
    },
    async supplyOf(mint) {
      const { value } = await rpc.getTokenSupply(address(mint), { commitment: 'confirmed' }).send()
      return BigInt(value.amount)
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

type Noted = { signature: Signature; memo: string; isInput: boolean }

/** The successful transactions that name an op. */
async function memosOf(rpc: Rpc): Promise<Noted[]> {
  const all: Noted[] = []
  for (let before: Signature | undefined; ; ) {
    const options = { commitment: 'finalized', limit: 1_000, ...(before && { before }) } as const
    const page = await rpc.getSignaturesForAddress(MEMO_PROGRAM, options).send()
    for (const { signature, err, memo: text } of page) {
      const [, memo, deadline] = MEMO.exec(text ?? '') ?? []
      if (err === null && memo) all.push({ signature, memo, isInput: deadline !== undefined })
    }
    before = page.at(-1)?.signature
    if (page.length < 1_000) return all
  }
}

async function readEffect(rpc: Rpc, { signature, ...noted }: Noted): Promise<Effect[]> {
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
  return [{ txHash: signature, slot: Number(slot), ...noted, feePayer, spent, tokens }]
}

function toOpEvents(chain: ChainSetup, effect: Effect, vault: string): OpEvent[] {
  const base = { id: `0x${effect.memo}`, chainId: chain.chainId, txHash: effect.txHash, block: effect.slot }
  const changes = [...effect.tokens].filter(([, amount]) => amount !== 0n)
  const [ofVault] = changes.flatMap(([key, amount]) => (key.startsWith(`${vault} `) ? [amount] : []))
  const [gained] = changes.flatMap(([, amount]) => (amount > 0n ? [amount] : []))
  if (gained === undefined) return []
  if (effect.isInput) return [{ kind: 'lock', amount: gained, ...base }]
  if (ofVault === undefined) return [{ kind: 'refund', amount: gained, ...base }]
  return ofVault > 0n
    ? [{ kind: 'claim', amount: ofVault, ...base }]
    : [{ kind: 'deliver', amount: -ofVault, ...base }]
}

function gainersOf({ tokens }: Effect): string[] {
  return [...tokens].flatMap(([key, amount]) => (amount > 0n ? (key.split(' ')[0] ?? []) : []))
}
