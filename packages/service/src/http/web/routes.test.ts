import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createTestServer } from '../../../test/support/http-server.ts'
import { readLocalNetwork } from './assets.ts'
import type { WebPage } from './routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-web-'))
afterAll(() => rmSync(folder, { recursive: true }))

const asset = (type: string, text: string) => ({
  type,
  etag: `"${text}"`,
  body: Buffer.from(text),
  gzip: Buffer.from(`gzip ${text}`),
})
const page: WebPage = {
  assets: new Map([
    ['index.html', asset('text/html; charset=utf-8', 'page')],
    ['assets/main-1.js', asset('text/javascript; charset=utf-8', 'script')],
  ]),
  settings: {
    rpcUrls: { 1: 'https://node.example/v1' },
    txUrls: {},
    contracts: { 1: { escrow: '0xe', vault: '0xf' } },
  },
}
const localFile = join(folder, 'local.json')
const local: WebPage = { ...page, readLocal: () => readLocalNetwork(localFile) }

describe('the page', () => {
  test.each(['/app/', '/app/swap', '/app/explore?swap=swp_1'])('%s needs no key', async (url) => {
    const { app } = await createTestServer({ web: page })

    const reply = await app.inject({ url })

    expect([reply.statusCode, reply.body, reply.headers['cache-control']]).toEqual([200, 'page', 'no-cache'])
  })

  test('may run only its own script and style, and call exactly the configured nodes', async () => {
    const { app } = await createTestServer({ web: page })

    const policy = (await app.inject({ url: '/app/' })).headers['content-security-policy']

    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("connect-src 'self' https://node.example;")
    expect(policy).not.toMatch(/unsafe|\*/)
  })

  test('answers an address that it does not have with 404, and finds its files from there', async () => {
    const html = asset('text/html; charset=utf-8', '<script src="assets/main-1.js">')
    const assets = new Map([['index.html', html]])
    const { app } = await createTestServer({ web: { ...page, assets } })

    const reply = await app.inject({ url: '/app/a/b/c' })

    expect([reply.statusCode, reply.body]).toEqual([404, '<script src="../../assets/main-1.js">'])
    expect(reply.headers['content-security-policy']).toContain("default-src 'none'")
  })

  test('is served below the mount path', async () => {
    const { app } = await createTestServer({ web: page, basePath: '/geoswap' })

    expect((await app.inject({ url: '/geoswap/app' })).headers.location).toBe('/geoswap/app/')
    expect((await app.inject({ url: '/geoswap/' })).json().app).toBe('/geoswap/app/')
  })

  test('is absent and not linked if it was not built', async () => {
    const { app } = await createTestServer()

    expect((await app.inject({ url: '/app/' })).json().code).toBe('NOT_FOUND')
    expect((await app.inject({ url: '/' })).json().app).toBeUndefined()
  })
})

describe('its files', () => {
  test('are cached forever, and compressed for clients that accept it', async () => {
    const { app } = await createTestServer({ web: page })
    const url = '/app/assets/main-1.js'

    const plain = await app.inject({ url })
    const gzip = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })

    expect([plain.body, plain.headers['cache-control']]).toEqual([
      'script',
      'public, max-age=31536000, immutable',
    ])
    expect([gzip.body, gzip.headers['content-encoding']]).toEqual(['gzip script', 'gzip'])
  })

  test('are not sent again to clients that have them', async () => {
    const { app } = await createTestServer({ web: page })
    const headers = { 'if-none-match': '"page"' }

    expect((await app.inject({ url: '/app/', headers })).statusCode).toBe(304)
  })

  test.each(['/app/assets/other.js', '/app/assets/..%2findex.html'])('404 for %s', async (url) => {
    const { app } = await createTestServer({ web: page })

    expect((await app.inject({ url })).json().code).toBe('NOT_FOUND')
  })
})

describe('the key of a local network', () => {
  const chains = [{ chainId: 31337, rpcUrl: 'http://127.0.0.1:8545' }]
  const write = () =>
    writeFileSync(
      localFile,
      JSON.stringify({ apiKey: 'gsk_x', faucetUrl: 'http://127.0.0.1:8081', chains, feeds: [] }),
    )
  const ask = async (web: WebPage, headers: Record<string, string>, remoteAddress = '127.0.0.1') => {
    const { app } = await createTestServer({ web })
    const reply = await app.inject({ url: '/app/network.json', headers, remoteAddress })
    return reply.json()
  }

  test('is given to a page on that machine, with its faucet and nodes', async () => {
    write()

    expect(await ask(local, { host: '127.0.0.1:8080' })).toEqual({
      rpcUrls: { 1: 'https://node.example/v1', 31337: 'http://127.0.0.1:8545' },
      txUrls: {},
      contracts: page.settings.contracts,
      local: { apiKey: 'gsk_x', faucetUrl: 'http://127.0.0.1:8081' },
    })
  })

  test.each([
    ['from another machine', local, { host: '127.0.0.1:8080' }, '10.0.0.9'],
    ['by another name', local, { host: 'rebound.example' }, '127.0.0.1'],
    ['through a proxy', local, { host: 'localhost', 'x-forwarded-for': '10.0.0.9' }, '127.0.0.1'],
    ['without a local network', page, { host: 'localhost:8080' }, '127.0.0.1'],
  ])('is not given to a page %s', async (_who, web, headers, address) => {
    write()

    expect(await ask(web, headers as Record<string, string>, address)).toEqual(page.settings)
  })

  test('is absent before the network is up', async () => {
    rmSync(localFile, { force: true })

    expect(await ask(local, { host: 'localhost:8080' })).toEqual(page.settings)
  })
})
