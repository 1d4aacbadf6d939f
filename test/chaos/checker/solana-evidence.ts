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

const PAGE = 1_000

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
  /** The chain's time at a slot. */
  secondsAt(slot: bigint): Promise<number>
  lamportsOf(account: string): Promise<bigint>
  /** All fees that this account paid. */
  feesOf(feePayer: string): Promise<bigint>
  /** The lamports of an owner's account of this mint, 0 without one. */
  rentOf(owner: string, mint: string): Promise<bigint>
  /** The accounts of the escrow program. */
  readMarkers(): Promise<string[]>
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
    async lamportsOf(account) {
      return (await rpc.getBalance(address(account), { commitment: 'confirmed' }).send()).value
    },
    async feesOf(feePayer) {
      const signatures = (await signaturesOf(rpc, address(feePayer))).map(({ signature }) => signature)
      const fees = await mapConcurrently(signatures, (signature) => readFee(rpc, signature, feePayer))
      return fees.reduce((sum, fee) => sum + fee, 0n)
    },
    async rentOf(owner, mint) {
      const [account] = (await tokenAccountsOf(rpc, address(owner))).filter((each) => each.mint === mint)
      return account?.lamports ?? 0n
    },
    async readMarkers() {
      const options = { commitment: 'confirmed', encoding: 'base64' } as const
      const found = await rpc.getProgramAccounts(address(chain.program ?? ''), options).send()
      return found.map(({ pubkey }) => pubkey)
    },
    async secondsAt(slot) {
      return Number(await rpc.getBlockTime(slot).send())
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
      return {
        ...{ pubkey, lamports: account.lamports, mint: info.mint as string },
        amount: BigInt(info.tokenAmount.amount),
      }
    }),
  )
}

type Noted = { signature: Signature; memo: string; isInput: boolean }

/** The successful transactions that name an op. */
async function memosOf(rpc: Rpc): Promise<Noted[]> {
  const all = await signaturesOf(rpc, MEMO_PROGRAM)
  return all.flatMap(({ signature, err, memo: text }) => {
    const [, memo, deadline] = MEMO.exec(text ?? '') ?? []
    return err === null && memo ? [{ signature, memo, isInput: deadline !== undefined }] : []
  })
}

/** All transactions that name an account, the newest first. */
async function signaturesOf(rpc: Rpc, account: Address) {
  const all: Awaited<ReturnType<typeof readPage>>[number][] = []
  for (;;) {
    const page = await readPage(rpc, account, all.at(-1)?.signature)
    all.push(...page)
    if (page.length < PAGE) return all
  }
}

function readPage(rpc: Rpc, account: Address, before: Signature | undefined) {
  const options = { commitment: 'finalized', limit: PAGE, ...(before && { before }) } as const
  return rpc.getSignaturesForAddress(account, options).send()
}

async function readFee(rpc: Rpc, signature: Signature, feePayer: string): Promise<bigint> {
  const options = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const found = await rpc.getTransaction(signature, options).send()
  const isPayer = found?.transaction.message.accountKeys[0] === feePayer
  return isPayer ? (found.meta?.fee ?? 0n) : 0n
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
