import { type Address, address, type Instruction, isAddress, lamports } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToInstruction,
} from '@solana-program/token'
import type { Hex } from 'viem'
import {
  createSolanaClient,
  createSolanaSender,
  createSolanaSigner,
  type SolanaSender,
} from '../solana-sender.ts'
import { type FaucetChain, FaucetRefusal } from './faucet-chain.ts'

const INCLUSION_TIMEOUT_MS = 60_000
// Ten million of a token with 9 decimals: a supply, which is limited to 2^64, has room for 1,800 such gifts.
const LARGEST_AMOUNT = 10n ** 16n

/** A token without a program is the native coin. */
type SolanaFaucetToken = { symbol: string; address: string; program?: string }
export type SolanaFaucetOptions = {
  chainId: number
  rpcUrl: string
  seed: Hex
  tokens: readonly SolanaFaucetToken[]
}
type Gift = { address: string; token: string; amount: bigint }

export async function createSolanaFaucet(options: SolanaFaucetOptions): Promise<FaucetChain> {
  const client = createSolanaClient(options.rpcUrl)
  const sender = createSolanaSender(client, await createSolanaSigner(options))
  return {
    chainId: options.chainId,
    tokens: options.tokens.map(({ symbol, address: at }) => ({ symbol, address: at })),
    largestAmount: LARGEST_AMOUNT,
    findProblem: findAddressProblem,
    async give(gift) {
      const token = options.tokens.find(({ address: at }) => at === gift.token)
      const outcome = await sender.send(await toInstructions(sender, gift, token), INCLUSION_TIMEOUT_MS)
      if (outcome.kind === 'late') throw refuseLate(outcome.signature)
      if (outcome.kind === 'refused') throw refuseFailed(outcome.reason)
      return outcome.signature
    },
  }
}

async function toInstructions(
  { signer }: SolanaSender,
  gift: Gift,
  token: SolanaFaucetToken | undefined,
): Promise<Instruction[]> {
  const owner = address(gift.address)
  const { amount } = gift
  if (!token?.program)
    return [getTransferSolInstruction({ source: signer, destination: owner, amount: lamports(amount) })]
  const mint = address(token.address)
  const tokenProgram: Address = address(token.program)
  const [ata] = await findAssociatedTokenPda({ owner, mint, tokenProgram })
  return [
    getCreateAssociatedTokenIdempotentInstruction({ payer: signer, ata, owner, mint, tokenProgram }),
    getMintToInstruction(
      { mint, token: ata, mintAuthority: signer, amount },
      { programAddress: tokenProgram },
    ),
  ]
}

function findAddressProblem(text: string): string | undefined {
  if (!isAddress(text)) return 'address must be 32 bytes in base58'
  if (/^1{32}$/.test(text)) return 'address must not be the system program'
  return undefined
}

function refuseLate(signature: string): FaucetRefusal {
  const message = `Transaction ${signature} was sent but not confirmed within 60 s: is the chain halted?`
  return new FaucetRefusal({ status: 504, code: 'NOT_INCLUDED', message })
}

function refuseFailed(reason: string): FaucetRefusal {
  const message = `The chain refuses to give this to the recipient: ${reason}`
  return new FaucetRefusal({ status: 422, code: 'RECIPIENT_REFUSES', message })
}
