import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createSolanaRpc } from '@solana/kit'
import { createPublicClient, http } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { type Network, startNetwork } from '../src/index.ts'

// Of the API and of the chains.
const TAKEN = [8080, 8545, 8546, 8899]

const programs: Server[] = []
const networks: Network[] = []

afterEach(async () => {
  await Promise.all(networks.splice(0).map((network) => network.stop()))
  await Promise.all(programs.splice(0).map((program) => new Promise((resolve) => program.close(resolve))))
})

/** Another program on the port, unless there is one already. */
async function occupy(port: number, host: string): Promise<void> {
  const program = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => {
    program.once('listening', () => {
      programs.push(program)
      resolve()
    })
    program.once('error', () => resolve())
    program.listen(port, host)
  })
}

async function start(): Promise<Network> {
  const network = await startNetwork({ usualPorts: true, service: false, blockMs: 200, slotMs: 100 })
  networks.push(network)
  return network
}

function urlsOf({ local }: Network): string[] {
  return [local.apiUrl, local.faucetUrl, ...local.chains.map(({ rpcUrl }) => rpcUrl)]
}

async function readHeads({ local }: Network): Promise<unknown[]> {
  return Promise.all(
    local.chains.map(({ family, rpcUrl }) =>
      family === 'evm'
        ? createPublicClient({ transport: http(rpcUrl) }).getBlockNumber()
        : createSolanaRpc(rpcUrl).getSlot().send(),
    ),
  )
}

test('two networks start at once while other programs listen at the usual ports of API and chains', async () => {
  const hosts = ['127.0.0.1', '0.0.0.0', '::']
  await Promise.all(TAKEN.map((port, index) => occupy(port, hosts[index % hosts.length] ?? '')))

  const both = await Promise.all([start(), start()])

  const ports = both.flatMap(urlsOf).map((url) => Number(new URL(url).port))
  expect(new Set(ports).size).toBe(10)
  expect(ports.filter((port) => TAKEN.includes(port))).toEqual([])
  for (const heads of await Promise.all(both.map(readHeads))) expect(heads).toHaveLength(3)
})

test('a chain that cannot start is told with the reason in its log and the next step', async () => {
  const started = startNetwork({ service: false, env: { NODE_OPTIONS: '--no-such-flag' } })

  await expect(started).rejects.toThrow(
    /^The process \w+ did not start: .*no-such-flag is not allowed in NODE_OPTIONS.*\. Start again;.+\.log$/,
  )
})

test('a service that refuses its configuration ends the start with the reason', async () => {
  const started = startNetwork({ serviceConfig: { quoteTtlMs: 'soon' } })

  await expect(started).rejects.toThrow(/^The process \w+ did not start: Invalid configuration: .*quoteTtlMs/)
})

test('a folder that cannot be used is told with its reason and the next step', async () => {
  const started = startNetwork({ home: join(import.meta.filename, 'home'), service: false })

  await expect(started).rejects.toThrow(
    /^The network did not start: ENOTDIR.+GEOSWAP_HOME=<folder> npm start/,
  )
})
