import Type from 'typebox'
import { address, chainId, count, name, range, strict, text, url } from '../config/fields.ts'

const source = {
  name: name('Its name in decisions and metrics.'),
  onUnknown: Type.Optional(
    Type.Union([Type.Literal('allow'), Type.Literal('deny')], {
      description: 'What counts when it does not know: silent, too slow, an odd answer. Default deny.',
    }),
  ),
}

const ListSource = Type.Object(
  {
    ...source,
    kind: Type.Literal('list', { description: 'A file, read again when it changes.' }),
    file: text(
      'The file: SDN.XML, sdn_advanced.xml or SDN.CSV of OFAC, JSON, or one address per line. Until it ' +
        'can be read, it knows nobody; later the last good one stays.',
    ),
    publicKey: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'Ed25519 key, 64 hex digits. With it the list needs a right signature. Default: none.',
      }),
    ),
    signatureFile: Type.Optional(
      text('Its detached signature: 64 bytes, hex or base64. Default: the name of the file and `.sig`.'),
    ),
    maxAgeHours: Type.Optional(
      count('An older file knows only what it lists. Default: none, and `doctor` warns after 48 hours.'),
    ),
  },
  strict,
)

const contract = {
  ...source,
  chainId: chainId('The EVM chain of the contract, one of this file.'),
  address: address('Its address.'),
}

const OracleSource = Type.Object(
  {
    ...contract,
    kind: Type.Literal('oracle', {
      description: 'A contract with `isSanctioned(address)`. Covers the addresses of all EVM chains.',
    }),
  },
  strict,
)

const TokenSource = Type.Object(
  {
    ...contract,
    kind: Type.Literal('token', { description: 'The blocklist of a token. Covers addresses on its chain.' }),
    flag: Type.Union(
      [
        Type.Literal('isBlacklisted'),
        Type.Literal('isBlackListed'),
        Type.Literal('getBlackListStatus'),
        Type.Literal('isBlocked'),
      ],
      {
        description:
          'Its function: `isBlacklisted` of USDC, `isBlackListed` of USDT on Ethereum, `isBlocked` of newer USDT.',
      },
    ),
  },
  strict,
)

const HttpSource = Type.Object(
  {
    ...source,
    kind: Type.Literal('http', {
      description: 'A service of yours. GEOSWAP_SCREENING_TOKEN is sent to it as a bearer token.',
    }),
    url: url('Where addresses are posted: https, or http on this machine.'),
    timeoutMs: Type.Optional(
      range(100, 30_000, 'Longest wait for an answer, which may come after `budgetMs`. Default 5000.'),
    ),
  },
  strict,
)

const Refused = Type.Object(
  {
    region: Type.String({
      pattern: '^[A-Z0-9-]{1,16}$',
      description: 'As the header names it, such as XX or XX-YY.',
    }),
    assets: Type.Array(text('One of `assets`.'), {
      description: 'Assets that are not quoted there. Empty: none is quoted.',
    }),
  },
  strict,
)

const Regions = Type.Object(
  {
    header: Type.String({
      pattern: '^[a-z0-9-]+$',
      description: 'Header in which your proxy writes the region of a caller. The proxy must overwrite it.',
    }),
    refused: Type.Array(Refused, { minItems: 1, description: 'What is not quoted where.' }),
    withoutRegion: Type.Optional(
      Type.Union([Type.Literal('allow'), Type.Literal('refuse')], {
        description: 'Whether assets of `refused` are quoted without the header. Default refuse.',
      }),
    ),
  },
  { ...strict, description: 'Assets that are refused by region, at the quote. Default: none.' },
)

export const Screening = Type.Object(
  {
    sources: Type.Array(Type.Union([ListSource, OracleSource, TokenSource, HttpSource]), {
      description: 'Who decides about addresses. All are asked; the first that denies counts.',
    }),
    budgetMs: Type.Optional(
      range(1, 10_000, 'Longest wait for all sources together, in milliseconds. Default 500.'),
    ),
    cacheSeconds: Type.Optional(count('How long an answer of a contract or service is used. Default 300.')),
    denialDays: Type.Optional(
      range(366, 36_500, 'Days for which denials are kept, a year at least. Default: for ever.'),
    ),
    regions: Type.Optional(Regions),
  },
  { ...strict, description: 'Who is served. Default: everybody.' },
)
