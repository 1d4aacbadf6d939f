import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSignableMessage, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { bytesToHex, type Hex, hexToBytes, keccak256, serializeSignature, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts'

/**
 * How the server answers: as Web3Signer does; not at all; late; with a 500; with the signature of another key, or of
 * other bytes; with the higher s; or after closing the connection of the first request.
 */
type Behaviour = 'usual' | 'away' | 'late' | 'failing' | 'wrong' | 'otherBytes' | 'highS' | 'closesOnce'

export type StandInSigner = {
  url: string
  /** The data of all requests to sign, in order. */
  asked: Hex[]
  behave(as: Behaviour): void
  /** Removes all keys, as an operator might. */
  forgetKeys(): void
  stop(): Promise<void>
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const SIGN = /^\/api\/v1\/(?:eth1|solana)\/sign\/([^/]+)$/

/**
 * A server with the eth1 API of Web3Signer and its form for Solana, which holds these keys. With `tls` it asks for a
 * client certificate.
 */
export async function startWeb3Signer(
  keys: readonly Hex[],
  tls?: ServerOptions,
  solanaKeys: readonly KeyPairSigner[] = [],
): Promise<StandInSigner> {
  const held = new Map(keys.map((key) => [identifierOf(key), key]))
  const ofSolana = new Map<string, KeyPairSigner>(solanaKeys.map((signer) => [signer.address, signer]))
  const asked: Hex[] = []
  let behaviour: Behaviour = 'usual'

  const answer = async (request: IncomingMessage, reply: ServerResponse) => {
    const { method, url = '' } = request
    if (method === 'GET' && url === '/upcheck') return void reply.end('OK')
    if (method === 'GET' && url === '/api/v1/eth1/publicKeys')
      return void reply.setHeader('content-type', 'application/json').end(JSON.stringify([...held.keys()]))
    if (method === 'GET' && url === '/api/v1/solana/publicKeys')
      return void reply
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify([...ofSolana.keys()]))
    const [, identifier = ''] = SIGN.exec(url) ?? []
    if (method !== 'POST' || !identifier) return void reply.writeHead(404).end()
    const data = toData(await readBody(request))
    if (data === undefined) return void reply.writeHead(400).end()
    asked.push(data)
    const signer = ofSolana.get(identifier)
    if (signer) return void reply.end(await signAsSolana(behaviour, signer, data))
    const key = held.get(identifier.toLowerCase())
    if (key === undefined) return void reply.writeHead(404).end()
    reply.setHeader('content-type', 'text/plain; charset=utf-8').end(await signAs(behaviour, key, data))
  }

  const listener = async (request: IncomingMessage, reply: ServerResponse) => {
    if (behaviour === 'away' || behaviour === 'closesOnce') {
      if (behaviour === 'closesOnce') behaviour = 'usual'
      return void request.socket.destroy()
    }
    if (behaviour === 'failing') return void reply.writeHead(500).end()
    // Its client gives up first.
    if (behaviour === 'late') return
    await answer(request, reply)
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    asked,
    behave: (as) => {
      behaviour = as
    },
    forgetKeys() {
      held.clear()
      ofSolana.clear()
    },
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}

/** The two coordinates of the public key, without the prefix of uncompressed keys. */
function identifierOf(privateKey: Hex): string {
  return `0x${privateKeyToAccount(privateKey).publicKey.slice(4)}`.toLowerCase()
}

async function signAs(behaviour: Behaviour, key: Hex, data: Hex): Promise<Hex> {
  const signature = await sign({
    hash: keccak256(data),
    privateKey: behaviour === 'wrong' ? generatePrivateKey() : key,
  })
  if (behaviour !== 'highS') return serializeSignature(signature)
  const s = toHex(ORDER - BigInt(signature.s), { size: 32 })
  return serializeSignature({ r: signature.r, s, yParity: 1 - (signature.yParity ?? 0) })
}

async function signAsSolana(behaviour: Behaviour, own: KeyPairSigner, data: Hex): Promise<Hex> {
  const signer = behaviour === 'wrong' ? await generateKeyPairSigner() : own
  const content = hexToBytes(behaviour === 'otherBytes' ? `${data}00` : data)
  const [signatures] = await signer.signMessages([createSignableMessage(content)])
  return bytesToHex(signatures?.[signer.address] ?? new Uint8Array())
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

function toData(body: string): Hex | undefined {
  try {
    const { data } = JSON.parse(body)
    return /^0x([0-9a-f]{2})*$/i.test(data) ? data : undefined
  } catch {
    return undefined
  }
}
