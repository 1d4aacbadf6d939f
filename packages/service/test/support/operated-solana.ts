import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  answerText,
  isObject,
  parseJson,
  type SolanaChainOptions,
  startSolanaChain,
} from '@geoswap/solana-rpc'
import {
  createDefaultRpcTransport,
  createJsonRpcApi,
  createRpc,
  createSolanaRpc,
  getBase64Decoder,
  lamports,
  none,
} from '@solana/kit'
import { getMintEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { createSolanaSigner } from '../../src/chains/solana/settings.ts'
import { type Output, runCommand } from '../../src/command.ts'
import { NETWORK_TEXT } from './network.ts'

type DevApi = {
  dev_setAccount(address: string, account: object): null
  dev_pauseSlots(): number
  dev_resumeSlots(): number
}
type Command = (args: string[], env: Record<string, string>, output: Output) => Promise<number>

const SOL = 1_000_000_000n
const DECIMALS = 6

/** A Solana chain with its USDC and a configuration of it, as an operator has before the first command. */
export async function startOperatedSolana() {
  const sent = new Set<unknown>()
  const createFront: SolanaChainOptions['createFront'] =
    ({ methods }) =>
    async ({ body }) => {
      const call = parseJson(body)
      if (isObject(call) && call.method === 'sendTransaction' && Array.isArray(call.params))
        sent.add(call.params[0])
      return { status: 200, text: await answerText(methods, body) }
    }
  const chain = await startSolanaChain({ port: 0, slotMs: 20, createFront })
  const rpc = createSolanaRpc(chain.rpcUrl)
  const transport = createDefaultRpcTransport({ url: chain.rpcUrl })
  const dev = createRpc({ api: createJsonRpcApi<DevApi>(), transport })
  const newKey = async () => {
    const secret = randomBytes(32)
    return { key: `0x${secret.toString('hex')}`, address: (await createSolanaSigner(secret)).address }
  }
  const [deployer, program] = [await newKey(), await newKey()]
  const network = JSON.parse(NETWORK_TEXT)
  const { genesisHash: _, ...configured } = network.chains[1]
  const solana = { ...configured, rpcUrls: [chain.rpcUrl], program: program.address }
  await dev
    .dev_setAccount(solana.tokens[0].address, {
      lamports: String(SOL),
      owner: TOKEN_PROGRAM_ADDRESS,
      data: [getBase64Decoder().decode(mintBytes()), 'base64'],
    })
    .send()
  const folder = mkdtempSync(join(tmpdir(), 'geoswap-operated-'))
  const file = join(folder, 'network.json')
  const changed = { ...network, chains: [solana], assets: network.assets.map(pricedByPyth) }
  writeFileSync(file, JSON.stringify({ ...changed, venues: [{ kind: 'inventory' }], discount: undefined }))
  const env = {
    GEOSWAP_CONFIG: file,
    GEOSWAP_SOLANA_DEPLOYER_KEY: deployer.key,
    GEOSWAP_SOLANA_PROGRAM_KEY: program.key,
  }
  return {
    ...{ chain, rpc, dev, env, config: solana, deployer: deployer.address },
    /** Of different transactions that a node was sent. */
    countSent: () => sent.size,
    give: (to: typeof deployer.address, amount: bigint) => rpc.requestAirdrop(to, lamports(amount)).send(),
    async run(command: Command, args: string[], more: Record<string, string> = {}) {
      const lines: string[] = []
      const say = (text: string) => void lines.push(text)
      const output = { out: say, hint: say }
      const code = await runCommand(output, () => command(args, { ...env, ...more }, output))
      return { code, text: lines.join('\n') }
    },
    async stop() {
      rmSync(folder, { recursive: true })
      await chain.stop()
    },
  }
}

function mintBytes() {
  return getMintEncoder().encode({
    ...{
      mintAuthority: none(),
      supply: 0n,
      decimals: DECIMALS,
      isInitialized: true,
      freezeAuthority: none(),
    },
  })
}

const FEED = { kind: 'pyth', feedId: `0x${'ab'.repeat(32)}`, maxAgeSeconds: 30 }
const pricedByPyth = (asset: object) => ({ ...asset, sources: [FEED], minSources: 1 })
