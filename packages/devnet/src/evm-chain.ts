import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
// The node that `hardhat node` starts, without the project, compiler and task runner around it: a fifth of a
// second instead of several. These are internal modules of a version that is pinned exactly.
import { JsonRpcHandler } from 'hardhat/internal/hardhat-network/jsonrpc/handler.js'
import { createHardhatNetworkProvider } from 'hardhat/internal/hardhat-network/provider/provider.js'
import { WebSocketServer } from 'ws'
import { mineByTheClock } from './evm-clock.ts'
import { reportListening } from './node-child.ts'

const BASE_FEE_WEI = 100_000_000
const BLOCK_GAS_LIMIT = 60_000_000
// Longer than any client's pool keeps an idle connection, so that no request meets a closing one.
const KEEP_ALIVE_MS = 65_000

/** One EVM chain in memory, behind plain JSON-RPC over HTTP and WebSocket. Mines by the clock alone. */
async function runChain(options: { chainId: number; port: number; blockMs: number }): Promise<void> {
  const provider = await createHardhatNetworkProvider(
    {
      hardfork: 'prague',
      chainId: options.chainId,
      networkId: options.chainId,
      blockGasLimit: BLOCK_GAS_LIMIT,
      initialBaseFeePerGas: BASE_FEE_WEI,
      minGasPrice: 0n,
      automine: false,
      intervalMining: 0,
      mempoolOrder: 'priority',
      chains: new Map(),
      genesisAccounts: [],
      allowUnlimitedContractSize: false,
      // Blocks faster than a second must not push the chain's clock ahead of everyone else's.
      allowBlocksWithSameTimestamp: true,
      // As on a real node: a transaction that reverts is included, a call that reverts is an error.
      throwOnTransactionFailures: false,
      throwOnCallFailures: true,
      enableTransientStorage: false,
      enableRip7212: false,
    },
    { enabled: false },
  )

  const ask = provider.request.bind(provider)
  provider.request = mineByTheClock(ask, options.blockMs, (error) => process.stderr.write(`${error}\n`))
  const handler = new JsonRpcHandler(provider)
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handler.handleHttp)
  const port = (await listens(server, options.port)) ?? (await listens(server, 0))
  if (port === undefined) throw new Error('The chain found no port to listen on')
  new WebSocketServer({ server }).on('connection', handler.handleWs)
  reportListening(port)
}

function listens(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      resolve(undefined)
    }
    server.once('error', onError)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    'chain-id': { type: 'string', default: '31337' },
    port: { type: 'string', default: '0' },
    'block-ms': { type: 'string', default: '1000' },
  },
})
await runChain({
  chainId: Number(values['chain-id']),
  port: Number(values.port),
  blockMs: Number(values['block-ms']),
})
