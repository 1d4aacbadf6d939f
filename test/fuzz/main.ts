import { parseArgs } from 'node:util'
import { startNetwork } from '@geoswap/devnet'
import { withoutReferences } from '@geoswap/wire'
import { createApiKey } from '../bench/service.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, outcomeOf, submitSwap } from '../world.ts'
import { fuzz } from './fuzz.ts'
import { gatherGenuine } from './genuine.ts'
import type { OpenApi } from './requests.ts'

const USAGE = `npm run fuzz -- [options]

  --requests N   how many requests (default 20000)
  --seed N       which ones (default 1)
`

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})

const USDC = 10n ** 6n
const ACCOUNT = 'fuzz'
const MOST_SHOWN = 10

async function run(): Promise<boolean> {
  const started = Date.now()
  const { PATH = '', HOME = '' } = process.env
  const x402 = { account: ACCOUNT, callsPerMinute: 60_000 }
  const network = await startNetwork({ env: { PATH, HOME }, serviceConfig: { x402 } })
  try {
    const apiKey = await createApiKey(network, ACCOUNT)
    const world = createWorld({ ...network.local, apiKey } as LocalNetwork)
    const solana = await createSolanaWorld(world.local)
    const wallet = await world.walletWith(world.alpha, 'USDC', 1_000n * USDC)
    const { apiUrl } = network.local
    const described = (await (await fetch(`${apiUrl}/openapi.json`)).json()) as OpenApi
    const document = withoutReferences(described)
    const report = await fuzz({
      ...{ apiUrl, apiKey, document, genuine: await gatherGenuine(world, solana, wallet) },
      ...{ requests: Number(values.requests), seed: Number(values.seed) },
      secrets: [
        network.databaseUrl,
        network.databaseUrls.api,
        apiKey,
        ...network.local.chains.map(({ rpcUrl }) => new URL(rpcUrl).host),
      ],
      onProgress: (sent) => console.log(`  ${sent} requests`),
    })
    const order = { from: world.alpha, sell: 'USDC', to: world.beta, buy: 'USDC', amount: 10n * USDC }
    const { swapId } = await submitSwap(world, wallet, order)
    const { status } = await outcomeOf(world, swapId)
    for (const [name, count] of Object.entries(report.statuses)) console.log(`${name.padEnd(8)} ${count}`)
    for (const fault of report.faults.slice(0, MOST_SHOWN)) console.log(fault)
    const seconds = Math.round((Date.now() - started) / 1_000)
    console.log(
      `${report.sent} requests, ${report.faults.length} wrong answers; a swap afterwards: ${status}; ${seconds} s`,
    )
    return report.faults.length === 0 && status === 'settled'
  } finally {
    await network.stop()
  }
}

if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
process.exit((await run()) ? 0 : 1)
