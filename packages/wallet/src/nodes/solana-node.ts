import { address, createSolanaRpc } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import type { Reads } from './reads.ts'

const NATIVE = '11111111111111111111111111111111'
const SOL_DECIMALS = 9
const AS_JSON = { commitment: 'confirmed', encoding: 'jsonParsed' } as const

export function createSolanaReads(rpcUrl: string): Reads {
  const rpc = createSolanaRpc(rpcUrl)

  /** The mint's program and its decimals. */
  async function readMint(mint: string) {
    const { value } = await rpc.getAccountInfo(address(mint), AS_JSON).send()
    const decimals = value && Number(readInfo(value.data)?.['decimals'])
    if (!value || !Number.isInteger(decimals)) throw new Error(`${mint} is not a mint`)
    return { program: value.owner, decimals: decimals as number }
  }

  return {
    async balanceOf(ownerText, token) {
      const owner = address(ownerText)
      if (token === NATIVE) return (await rpc.getBalance(owner, { commitment: 'confirmed' }).send()).value
      const { program: tokenProgram } = await readMint(token)
      const [account] = await findAssociatedTokenPda({ owner, mint: address(token), tokenProgram })
      const { value } = await rpc.getAccountInfo(account, AS_JSON).send()
      return value ? BigInt(readTokenAmount(value.data)) : 0n
    },
    async decimalsOf(token) {
      return token === NATIVE ? SOL_DECIMALS : (await readMint(token)).decimals
    },
    symbolOf: async () => undefined,
  }
}

function readTokenAmount(data: unknown): string {
  const { amount } = (readInfo(data)?.['tokenAmount'] ?? {}) as { amount?: string }
  if (amount === undefined) throw new Error("The wallet's token account holds something else")
  return amount
}

function readInfo(data: unknown): Record<string, unknown> | undefined {
  const { parsed } = data as { parsed?: { info?: Record<string, unknown> } }
  return parsed?.info
}
