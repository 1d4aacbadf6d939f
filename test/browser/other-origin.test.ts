import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createOperator } from '../operator.ts'
import { createWorld } from '../world.ts'
import { useBrowser } from './browser.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const operator = createOperator(inject('databaseUrl'))
const { visit, expectErrors } = useBrowser()

const USDC = 1_000_000n

// An application as a developer would bundle it; the tests call what it leaves in the window.
const APPLICATION = `
import { createClient, fromViemAccount } from '@geoswap/sdk'
import { privateKeyToAccount } from 'viem/accounts'
window.swap = async ({ access, request, privateKey }) => {
  const client = createClient(access)
  const { status } = await client.swap(request, fromViemAccount(privateKeyToAccount(privateKey)))
  return status
}
window.chains = (access) => createClient(access).chains().then(({ chains }) => chains.length, ({ code }) => code)
`

type Input = { access: object; request: object; privateKey: string }
declare global {
  interface Window {
    swap(input: Input): Promise<string>
    chains(access: object): Promise<number | string>
  }
}

/** A web server of an origin of its own. */
async function serve(script: string): Promise<{ origin: string; server: Server }> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/app.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(
      isScript ? script : '<!doctype html><title>Shop</title><script type=module src=app.js></script>',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

let shop: Awaited<ReturnType<typeof serve>>
let other: Awaited<ReturnType<typeof serve>>
let apiKey: string
beforeAll(async () => {
  const stdin = { contents: APPLICATION, resolveDir: import.meta.dirname }
  const options = { bundle: true, write: false, format: 'esm', platform: 'browser' } as const
  const { outputFiles } = await build({ stdin, ...options })
  const script = outputFiles[0]?.text ?? ''
  shop = await serve(script)
  other = await serve(script)
  apiKey = await operator.createKeyWith('--publishable', '--origin', shop.origin)
})
afterAll(() => {
  for (const { server } of [shop, other]) server.close()
})

const accessTo = (key: string) => ({ baseUrl: local.apiUrl, apiKey: key, contracts: local.pins })
const onceTo = (key: string) => ({ ...accessTo(key), retry: { forMs: 0 } })

async function open(origin: string) {
  const page = await visit()
  await page.goto(origin)
  await page.waitForFunction(() => 'swap' in window)
  return page
}

test('a page of an allowed origin swaps with the SDK and a publishable key', async () => {
  const privateKey = generatePrivateKey()
  await world.fund(alpha, privateKeyToAddress(privateKey), 'USDC', 10n * USDC)
  const page = await open(shop.origin)
  const request = {
    ...{ originChain: alpha.chainId, destinationChain: beta.chainId, amount: `${10n * USDC}` },
    ...{ inputToken: alpha.token('USDC'), outputToken: beta.token('USDC') },
  }

  const status = await page.evaluate((input) => window.swap(input), {
    ...{ access: accessTo(apiKey), request, privateKey },
  })

  expect(status).toBe('settled')
})

test('its scripts read limits and request ids, and a call that needs a secret key is refused readably', async () => {
  expectErrors(/403/)
  const page = await open(shop.origin)

  const seen = await page.evaluate(
    async ({ apiUrl, key }) => {
      const reply = await fetch(`${apiUrl}/swap/history`, { headers: { 'x-api-key': key } })
      const names = ['x-request-id', 'ratelimit', 'ratelimit-policy']
      return { body: await reply.json(), headers: names.map((name) => reply.headers.get(name)) }
    },
    { apiUrl: local.apiUrl, key: apiKey },
  )

  expect(seen.body).toMatchObject({ code: 'FORBIDDEN' })
  expect(seen.headers).not.toContain(null)
})

test('a page of another origin gets no answer, with a publishable key or a secret one', async () => {
  expectErrors(/CORS|ERR_FAILED|403/)
  const page = await open(other.origin)

  for (const key of [apiKey, local.apiKey])
    expect(await page.evaluate((access) => window.chains(access), onceTo(key))).toBe('CONNECTION_FAILED')
})

test('403 FORBIDDEN for a program that sends a publishable key without its origin', async () => {
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(`${local.apiUrl}/swap/chains`, { headers: { 'x-api-key': apiKey, ...headers } })).status

  expect(await Promise.all([statusOf({}), statusOf({ origin: other.origin })])).toEqual([403, 403])
})
