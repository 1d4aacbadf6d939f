import { readFile } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'

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
