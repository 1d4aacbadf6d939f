import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyRequest } from 'fastify'

/** A file of the page. */
export type Asset = { type: string; etag: string; body: Buffer; gzip: Buffer }

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * All files of a folder by their relative path, such as `assets/main-4F1C.js`. They are few and small, and kept in
 * memory.
 */
export function readAssets(folder: string): Map<string, Asset> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => TYPES[extname(file)] !== undefined)
  return new Map(files.map((file) => [file, toAsset(file, readFileSync(join(folder, file)))]))
}

export function toAsset(file: string, body: Buffer): Asset {
  const etag = `"${hash('sha256', body, 'hex').slice(0, 32)}"`
  return { type: TYPES[extname(file)] ?? '', etag, body, gzip: gzipSync(body, { level: 9 }) }
}

/** Settings that a page on the machine of a local network may know, from that machine's local.json. */
export type LocalNetwork = { apiKey: string; faucetUrl: string; rpcUrls: Record<string, string> }

type LocalFile = { apiKey: string; faucetUrl: string; chains: { chainId: number; rpcUrl: string }[] }

/** Undefined until the network is up: the file is written last. */
export async function readLocalNetwork(file: string): Promise<LocalNetwork | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing)
  if (text === undefined) return undefined
  const { apiKey, faucetUrl, chains } = JSON.parse(text) as LocalFile
  const rpcUrls = Object.fromEntries(chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]))
  return { apiKey, faucetUrl, rpcUrls }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/

/**
 * Whether the request comes from this machine, by its own name. Refuses pages of other hosts whose name resolves to
 * this machine (DNS rebinding).
 */
export function isLocalRequest({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): boolean {
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined
  return LOOPBACK.test(ip) && LOOPBACK_HOST.test(headers.host ?? '') && !isForwarded
}
