import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createListSource, type KeyOf, parseList, readList } from './list.ts'

const folder = mkdtempSync(join(tmpdir(), 'list-'))
afterAll(() => rmSync(folder, { recursive: true }))

const keyOf: KeyOf = (address) => (address.startsWith('0x') ? address.toLowerCase() : address)
const ETH = '0x901bb9583b24D97e995513C6778dc6888AB6870e'
const SOL = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'

const found = (text: string) => {
  const { version, reasons } = parseList(text, keyOf)
  return { version, addresses: [...reasons.keys()] }
}

describe('a list is read as it is published', () => {
  test('as SDN.XML of OFAC, with its date', () => {
    const text = `<?xml version="1.0"?>
      <sdnList xmlns="x"><publshInformation><Publish_Date>07/15/2026</Publish_Date></publshInformation>
      <sdnEntry><idList><id><uid>1</uid><idType>Digital Currency Address - ETH</idType>
        <idNumber>${ETH}</idNumber></id>
      <id><idType>Passport</idType><idNumber>A0000000000000000000001</idNumber></id>
      <id><idType>Digital Currency Address - SOL</idType><idNumber>${SOL}</idNumber></id></idList></sdnEntry>
      </sdnList>`

    expect(found(text)).toEqual({ version: '07/15/2026', addresses: [ETH.toLowerCase(), SOL] })
    expect(parseList(text, keyOf).reasons.get(SOL)).toBe('OFAC SDN SOL')
  })

  test('as sdn_advanced.xml, which names coins by number', () => {
    const text = `<Sanctions>
      <DateOfIssue CalendarTypeID="1"><Year>2026</Year><Month>7</Month><Day>15</Day></DateOfIssue>
      <FeatureType ID="345" FeatureTypeGroupID="1">Digital Currency Address - ETH</FeatureType>
      <Feature ID="1" FeatureTypeID="345"><FeatureVersion ID="2" ReliabilityID="1560"><Comment />
        <VersionDetail DetailTypeID="1432">${ETH}</VersionDetail></FeatureVersion></Feature>
      <Feature ID="3" FeatureTypeID="8"><VersionDetail DetailTypeID="1">01 Jan 1960</VersionDetail></Feature>
      </Sanctions>`

    expect(found(text)).toEqual({ version: '2026-7-15', addresses: [ETH.toLowerCase()] })
  })

  test('as SDN.CSV, in the remarks', () => {
    const text = `36,"A PERSON",-0- ,"Digital Currency Address - ETH ${ETH};
      alt. Digital Currency Address - SOL ${SOL};"`

    expect(found(text)).toEqual({
      version: expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
      addresses: [ETH.toLowerCase(), SOL],
    })
  })

  test('as JSON, with or without version and reasons', () => {
    expect(found(JSON.stringify([ETH, SOL])).addresses).toEqual([ETH.toLowerCase(), SOL])
    const list = { version: 7, addresses: [{ address: ETH, reason: 'theft' }, SOL] }
    expect(found(JSON.stringify(list))).toEqual({ version: '7', addresses: [ETH.toLowerCase(), SOL] })
    expect(parseList(JSON.stringify(list), keyOf).reasons.get(ETH.toLowerCase())).toBe('theft')
  })

  test('as lines, of which one may be the version', () => {
    expect(found(`# version: 2026-07\n\n0X${ETH.slice(2)}\r\n${SOL}\n`)).toEqual({
      version: '2026-07',
      addresses: [ETH.toLowerCase(), SOL],
    })
  })
})

test.each([
  ['a page of an error', '<html><body>Not found</body></html>'],
  ['the first half of a file', '<sdnList><idType>Digital Currency Address - ETH</idType><idNumber>0x9'],
  ['nothing', ''],
  ['an empty list', '{"version":"1","addresses":[]}'],
  ['other words', 'service unavailable'],
  ['numbers in place of addresses', '[1, 2]'],
])('%s is no list', (_, text) => {
  expect(() => parseList(text, keyOf)).toThrow()
})

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')
const party = (address: string) => ({ address, chainId: 1, role: 'wallet' }) as const

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

test.each(['binary', 'hex', 'base64'] as const)('a signature counts as %s', async (form) => {
  const file = write(`${form}.txt`, ETH)
  const signature = sign(null, Buffer.from(ETH), privateKey)
  writeFileSync(`${file}.sig`, form === 'binary' ? signature : `${signature.toString(form)}\n`)

  expect((await readList({ file, keyOf, publicKey: key })).reasons.size).toBe(1)
  writeFileSync(file, SOL)
  await expect(readList({ file, keyOf, publicKey: key })).rejects.toThrow('its signature is not right')
})

test('a changed file is read again, and a bad one leaves the last good list', async () => {
  const file = write('changing.txt', ETH)
  const source = createListSource({ file, keyOf, name: 'own', onUnknown: 'deny' })
  await source.refresh()
  const kinds = () =>
    [ETH, SOL].map((address) => source.screen(party(address))).map((each) => 'kind' in each && each.kind)

  expect(kinds()).toEqual(['deny', 'allow'])
  writeFileSync(file, 'an error page')
  await expect(source.refresh()).rejects.toThrow('is not an address')
  expect(kinds()).toEqual(['deny', 'allow'])
  writeFileSync(file, `# version: 2\n${SOL}`)
  await source.refresh()
  expect(kinds()).toEqual(['allow', 'deny'])
  expect(source.screen(party(SOL))).toEqual({ kind: 'deny', reason: 'listed', list: 'own', version: '2' })
})

test('a list that is too old denies what it lists, and does not know of others', async () => {
  const file = write('old.txt', ETH)
  const later = () => Date.now() + 3_600_001
  const source = createListSource({
    file,
    keyOf,
    name: 'own',
    onUnknown: 'deny',
    maxAgeMs: 3_600_000,
    now: later,
  })
  await source.refresh()

  expect([ETH, SOL].map((address) => source.screen(party(address)))).toMatchObject([
    { kind: 'deny' },
    { kind: 'unknown' },
  ])
})
