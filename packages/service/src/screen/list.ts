import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { ALLOW, type Source, UNKNOWN } from './screening.ts'

/** The addresses of a list, in the form that is equal for two spellings of one, with the reasons. */
export type AddressList = { version: string; reasons: ReadonlyMap<string, string> }

/** Equal for two spellings of one address. */
export type KeyOf = (address: string) => string

type Parsed = { version?: string | undefined; entries: readonly { address: string; reason?: string }[] }

const ADDRESS = /^[A-Za-z0-9]{20,128}$/
// A reason is printed and stored.
const MAX_REASON = 200

/**
 * Reads a list: OFAC's SDN.XML, sdn_advanced.xml or SDN.CSV, JSON, or one address per line. Throws at anything else: a
 * page of an error is no list, and a list without addresses or without its end was not downloaded whole.
 */
export function parseList(text: string, keyOf: KeyOf): AddressList {
  const { version, entries } = parseText(text.replace(/^\uFEFF/, '').trim())
  const reasons = new Map<string, string>()
  for (const { address, reason } of entries) {
    if (!ADDRESS.test(address)) throw new Error(`${JSON.stringify(address.slice(0, 40))} is not an address`)
    reasons.set(keyOf(address.replace(/^0X/, '0x')), (reason ?? 'listed').slice(0, MAX_REASON))
  }
  if (reasons.size === 0) throw new Error('it has no address')
  return { version: version ?? fingerprintOf(text), reasons }
}

function fingerprintOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}

function parseText(text: string): Parsed {
  if (text.startsWith('<')) return parseXml(text)
  if (text.startsWith('[') || text.startsWith('{')) return parseJson(text)
  if (text.includes(PUBLISHED)) return { entries: readAll(text, IN_CSV) }
  return parseLines(text)
}

// The words before the symbol of a coin, in each of OFAC's files.
const PUBLISHED = 'Digital Currency Address - '
const IN_CSV = /Digital Currency Address - (\w+)\s+([A-Za-z0-9]+)/g
const IN_XML = /Digital Currency Address - (\w+)\s*<\/idType>\s*<idNumber>\s*([^<\s]+)/g
const COIN = /<FeatureType ID="(\d+)"[^>]*>\s*Digital Currency Address - (\w+)/g
const FEATURE = /<Feature ID="\d+" FeatureTypeID="(\d+)">([\s\S]*?)<\/Feature>/g
const DETAIL = /<VersionDetail [^>]*>\s*([^<\s]+)\s*<\/VersionDetail>/
const PUBLISHED_ON = /<Publish_Date>\s*([\d/]+)\s*<\/Publish_Date>/
const ISSUED_ON = /<DateOfIssue[^>]*>\s*<Year>(\d+)<\/Year>\s*<Month>(\d+)<\/Month>\s*<Day>(\d+)<\/Day>/

function parseXml(text: string): Parsed {
  const root = /<([A-Za-z_][\w.-]*)[\s>]/.exec(text)?.[1]
  if (!root || !text.endsWith(`</${root}>`)) throw new Error('its end is missing')
  const issued = ISSUED_ON.exec(text)?.slice(1).join('-')
  return {
    version: PUBLISHED_ON.exec(text)?.[1] ?? issued,
    entries: [...readAll(text, IN_XML), ...inFeatures(text)],
  }
}

const readAll = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, coin, address = '']) => ({ address, reason: `OFAC SDN ${coin}` }))

/** sdn_advanced.xml names the coins once, by numbers. */
function inFeatures(text: string): Parsed['entries'] {
  const coins = new Map([...text.matchAll(COIN)].map(([, id = '', coin = '']) => [id, coin]))
  if (coins.size === 0) return []
  return [...text.matchAll(FEATURE)].flatMap(([, type = '', content = '']) => {
    const address = coins.has(type) ? DETAIL.exec(content)?.[1] : undefined
    return address === undefined ? [] : [{ address, reason: `OFAC SDN ${coins.get(type)}` }]
  })
}

/** A list of texts, or an object with a version and addresses, which may have reasons. */
function parseJson(text: string): Parsed {
  const parsed: unknown = JSON.parse(text)
  const { version, addresses } = Array.isArray(parsed)
    ? { version: undefined, addresses: parsed as unknown[] }
    : (parsed as { version?: unknown; addresses?: unknown })
  if (!Array.isArray(addresses)) throw new Error('it has no addresses')
  return {
    version: version === undefined ? undefined : String(version),
    entries: addresses.map((entry: unknown) => {
      if (typeof entry === 'string') return { address: entry }
      const { address, reason } = (entry ?? {}) as Record<string, unknown>
      return typeof reason === 'string' ? { address: String(address), reason } : { address: String(address) }
    }),
  }
}

/** One address per line. Comments begin with #; one of them may be `# version: …`. */
function parseLines(text: string): Parsed {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const version = lines.map((line) => /^#\s*version:\s*(.+)$/i.exec(line)?.[1]).find((found) => found)
  const entries = lines.filter((line) => line !== '' && !line.startsWith('#')).map((address) => ({ address }))
  return { version, entries }
}

// OFAC's largest file has about 120 MB.
const MAX_BYTES = 256 * 1024 * 1024

export type ListFile = {
  file: string
  keyOf: KeyOf
  /** Of Ed25519, 64 hex digits. With it the list counts only if the signature beside it is right. */
  publicKey?: string | undefined
  /** Default: the name of the file and `.sig`. */
  signatureFile?: string | undefined
}

export type ReadList = AddressList & { changedAt: number }

/** Throws if the list cannot be read, or its signature is not right. */
export async function readList(list: ListFile): Promise<ReadList> {
  const { size, mtimeMs } = await stat(list.file)
  if (size > MAX_BYTES) throw new Error(`${list.file}: it is too large`)
  const content = await readFile(list.file)
  if (list.publicKey !== undefined && !(await isSigned(list, list.publicKey, content)))
    throw new Error(`${list.file}: its signature is not right`)
  try {
    return { ...parseList(content.toString('utf8'), list.keyOf), changedAt: mtimeMs }
  } catch (cause) {
    throw new Error(`${list.file}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

async function isSigned(list: ListFile, publicKey: string, content: Buffer): Promise<boolean> {
  const signature = toSignature(await readFile(signatureFileOf(list)))
  return signature !== undefined && verify(null, content, toKey(publicKey), signature)
}

const signatureFileOf = ({ file, signatureFile }: ListFile) => signatureFile ?? `${file}.sig`

const SIGNATURE_BYTES = 64

/** The 64 bytes, as they are, in hex or in base64. */
function toSignature(content: Buffer): Buffer | undefined {
  if (content.length === SIGNATURE_BYTES) return content
  const text = content.toString('latin1').trim()
  const bytes = Buffer.from(text, /^[0-9a-f]{128}$/i.test(text) ? 'hex' : 'base64')
  return bytes.length === SIGNATURE_BYTES ? bytes : undefined
}

function toKey(publicKey: string): KeyObject {
  const x = Buffer.from(publicKey, 'hex').toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

type ListOptions = ListFile & {
  name: string
  onUnknown: Source['onUnknown']
  /** An older file still denies, and does not know of others. */
  maxAgeMs?: number | undefined
  now?: () => number
}

export type ListSource = Source & {
  /** Reads the file again if it changed. Throws if that fails; the former list stays. */
  refresh(): Promise<void>
  /** The list in use; undefined before the first reading. */
  current(): Pick<ReadList, 'version' | 'reasons' | 'changedAt'> | undefined
}

/** Answers from memory. */
export function createListSource(options: ListOptions): ListSource {
  const { name, onUnknown, keyOf, maxAgeMs = Number.POSITIVE_INFINITY, now = Date.now } = options
  let current: ReadList | undefined
  let seen = ''

  return {
    name,
    onUnknown,
    screen({ address }) {
      const reason = current?.reasons.get(keyOf(address))
      if (current && reason !== undefined)
        return { kind: 'deny', reason, list: name, version: current.version }
      return current && now() - current.changedAt <= maxAgeMs ? ALLOW : UNKNOWN
    },
    async refresh() {
      const state = await stateOf(options)
      if (state === seen) return
      current = await readList(options)
      seen = state
    },
    current: () => current,
  }
}

/** Changes whenever the list or its signature does. */
async function stateOf(list: ListFile): Promise<string> {
  const files = [list.file, ...(list.publicKey === undefined ? [] : [signatureFileOf(list)])]
  const states = await Promise.all(files.map((file) => stat(file)))
  return states.map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`).join(' ')
}
