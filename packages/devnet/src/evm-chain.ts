import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
// An internal module of an exactly pinned version.
import { JsonRpcHandler } from 'hardhat/internal/hardhat-network/jsonrpc/handler.js'
import { mineByTheClock } from './evm-clock.ts'
import { createEvmProvider } from './evm-provider.ts'
import { reportListening } from './node-child.ts'
import { EVM_SHAPES, type EvmShape, type EvmShapeName } from './shape/evm-shape.ts'
import { acceptSockets, createRpcServer } from './shape/server.ts'
import { createShapedChain } from './shape/shaped-chain.ts'

// Longer than any client keeps an idle connection, so that no request is sent on a closing one.
const KEEP_ALIVE_MS = 65_000
const DEFAULT_BLOCK_MS = 1_000

type Options = { chainId: number; port: number; blockMs: number; shape: EvmShape | undefined }

const onFault = (error: unknown) => process.stderr.write(`${error}\n`)

// See docs/decisions.md#a-local-network-without-mocks.
/** One EVM chain in memory, with JSON-RPC over HTTP and WebSocket. It mines by the clock only. */
async function runChain({ shape, ...options }: Options): Promise<void> {
  const server = shape ? await shapedServer({ ...options, shape }) : await plainServer(options)
  const port = (await listens(server, options.port)) ?? (await listens(server, 0))
  if (port === undefined) throw new Error('The chain found no port to listen on')
  reportListening(port)
}

async function plainServer(options: { chainId: number; blockMs: number }): Promise<Server> {
  const provider = await createEvmProvider({ chainId: options.chainId })
  const ask = provider.request.bind(provider)
  provider.request = mineByTheClock(ask, options.blockMs, onFault)
  const handler = new JsonRpcHandler(provider)
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handler.handleHttp)
  acceptSockets(server, handler.handleWs)
  return server
}

async function shapedServer(options: { chainId: number; blockMs: number; shape: EvmShape }): Promise<Server> {
  const chain = await createShapedChain({ ...options, onFault })
  return createRpcServer(chain, KEEP_ALIVE_MS)
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

function isShapeName(name: string): name is EvmShapeName {
  return Object.hasOwn(EVM_SHAPES, name)
}

function findShape(name: string | undefined): EvmShape | undefined {
  if (name === undefined) return undefined
  if (isShapeName(name)) return EVM_SHAPES[name]
  throw new Error(`--shape is one of ${Object.keys(EVM_SHAPES).join(', ')}`)
}

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    'chain-id': { type: 'string', default: '31337' },
    port: { type: 'string', default: '0' },
    // Defaults to one second, or the interval of the shape.
    'block-ms': { type: 'string' },
    shape: { type: 'string' },
  },
})
const shape = findShape(values.shape)
await runChain({
  chainId: Number(values['chain-id']),
  port: Number(values.port),
  blockMs: Number(values['block-ms'] ?? shape?.blockMs ?? DEFAULT_BLOCK_MS),
  shape,
})
