import { type RunningSolanaChain, startSolanaProcess } from '@geoswap/devnet'
import {
  type Address,
  createSolanaRpc,
  generateKeyPairSigner,
  getBase64Decoder,
  none,
  some,
} from '@solana/kit'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintEncoder,
  getMintToInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { createSolanaClient, createSolanaSender } from '../../../packages/devnet/src/solana-sender.ts'
import { readPreset } from '../../../packages/service/src/operate/presets.ts'

const SOL = 10n ** 9n
const TIMEOUT_MS = 30_000

export type BareSolana = RunningSolanaChain & {
  name: 'solana'
  genesisHash: string
  giveCoins(to: string, whole: bigint): Promise<void>
  giveTokens(to: string, amount: bigint): Promise<void>
  balanceOf(owner: string): Promise<bigint>
}

/** Starts a Solana chain with USDC at its address of the preset. Nothing of ours is on it. */
export async function startBareSolana(env: Record<string, string>): Promise<BareSolana> {
  const chain = await startSolanaProcess({ name: 'solana', env })
  const client = createSolanaClient(chain.nodeUrl)
  const issuer = await generateKeyPairSigner()
  const mint = usdcOf()
  const terms = { supply: 0n, decimals: 6, isInitialized: true, freezeAuthority: none<Address>() }
  const bytes = getMintEncoder().encode({ ...terms, mintAuthority: some(issuer.address) })
  const data = [getBase64Decoder().decode(bytes), 'base64']
  const account = { lamports: String(SOL), owner: TOKEN_PROGRAM_ADDRESS, data }
  const giveCoins = async (to: string, whole: bigint) =>
    void (await client.dev.dev_setAccount(to as Address, { lamports: String(whole * SOL) }).send())
  await client.dev.dev_setAccount(mint, account).send()
  await giveCoins(issuer.address, 100n)
  const sender = createSolanaSender(client, issuer)
  const accountOf = async (owner: string) => {
    const holder = { owner: owner as Address, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }
    return { ...holder, ata: (await findAssociatedTokenPda(holder))[0] }
  }
  return {
    ...chain,
    name: 'solana',
    genesisHash: await createSolanaRpc(chain.nodeUrl).getGenesisHash().send(),
    giveCoins,
    async giveTokens(to, amount) {
      const holder = await accountOf(to)
      const paid = { mint, token: holder.ata, mintAuthority: issuer, amount }
      const creation = getCreateAssociatedTokenIdempotentInstruction({ ...holder, payer: issuer })
      const outcome = await sender.send([creation, getMintToInstruction(paid)], TIMEOUT_MS)
      if (outcome.kind !== 'confirmed') throw new Error(`No USDC on Solana: ${JSON.stringify(outcome)}`)
    },
    async balanceOf(owner) {
      const { ata } = await accountOf(owner)
      return BigInt((await client.rpc.getTokenAccountBalance(ata).send()).value.amount)
    },
  }
}

function usdcOf(): Address {
  const usdc = readPreset('solana')?.tokens.find(({ symbol }) => symbol === 'USDC')
  if (!usdc) throw new Error('The preset of Solana has no USDC')
  return usdc.address as Address
}
