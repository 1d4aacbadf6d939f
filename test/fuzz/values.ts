import type { Random } from '../bench/random.ts'

const LONG = 20_000
const DEEP = 5_000

/**
 * Texts that have broken a parser, a database or a page somewhere. None of them matches the patterns of a
 * leak.
 */
const TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\r\n\r\nGET / HTTP/1.1',
    '\ud800',
    '\udfff\ud800',
    '\u202e\u2066',
    '\ufeff',
  ],
  ...[
    '🦀'.repeat(300),
    'ﷺ',
    'İıſK',
    'Ω≈ç√',
    '０１２',
    '%00',
    '%2e%2e%2f',
    '..\\..\\',
    '{{7*7}}',
    '$\u007b7*7}',
    '%s%n%p',
  ],
  ...["' OR 1=1 --", "'; DROP TABLE swaps; --", '"><script>alert(1)</script>', '$(id)', '`id`', '() { :; }'],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    '[object Object]',
  ],
  ...[
    '0',
    '-0',
    '-1',
    '1e9',
    '1e400',
    '0x10',
    '00',
    '1.5',
    '1_000',
    ' 1',
    '1 ',
    '+1',
    '∞',
    '9'.repeat(78),
    '9'.repeat(2_000),
  ],
  ...[`${2n ** 256n}`, `${2n ** 256n - 1n}`, `${2n ** 64n}`, `${2n ** 63n}`, '9007199254740993'],
  ...[
    '0x',
    '0X00',
    `0x${'0'.repeat(40)}`,
    `0x${'f'.repeat(40)}`,
    `0x${'f'.repeat(130)}`,
    '1'.repeat(32),
    '1'.repeat(44),
  ],
  ...[
    'swp_',
    `swp_${'0'.repeat(32)}`,
    'gsk_local_',
    'A'.repeat(LONG),
    '='.repeat(9),
    'eyJhbGciOiJub25lIn0..',
  ],
  ...[
    '1970-01-01T00:00:00.000Z',
    '+275760-09-13T00:00:00.001Z',
    '0000-00-00T00:00:00Z',
    '2026-02-30T25:61:61Z',
  ],
]

const PLAIN: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -0,
    -1,
    1,
    1.5,
    1e21,
    1e308,
    -1e308,
    Number.MAX_SAFE_INTEGER + 2,
    Number.MIN_VALUE,
  ],
  ...[
    [],
    {},
    [[]],
    [null],
    { length: 1e9 },
    { toString: 1 },
    { valueOf: 'x' },
    JSON.parse(`{"then":true}`),
    [1, [2, [3]]],
  ],
]

/** An unexpected value. */
export function hostileValue(random: Random): unknown {
  return random.next() < 0.6 ? hostileText(random) : random.pick(PLAIN)
}

export function hostileText(random: Random): string {
  const text = random.pick(TEXTS)
  return random.next() < 0.2 ? text + random.pick(TEXTS) : text
}

/** JSON that an object cannot represent, or invalid JSON: as text, since no encoder would write it. */
export function hostileJson(random: Random, fields: Record<string, unknown>): string {
  const genuine = JSON.stringify(fields)
  const inside = genuine.slice(1, -1)
  const [first = 'x'] = Object.keys(fields)
  return random.pick([
    () => `{${inside}${inside && ','}"${first}":${JSON.stringify(random.pick(PLAIN))}}`,
    () => `{"__proto__":{"isAdmin":true}${inside && ','}${inside}}`,
    () => `{"constructor":{"prototype":{"isAdmin":true}}${inside && ','}${inside}}`,
    () => `{"\\u005f\\u005fproto\\u005f\\u005f":{"walletAddress":"x"}${inside && ','}${inside}}`,
    () => `{"${first}":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`,
    () => `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
    () => genuine.slice(0, random.integer(0, genuine.length)),
    () => `${genuine}${random.pick(['}', ',', '\u0000', 'x', genuine])}`,
    () => `\ufeff${genuine}`,
    () => genuine.replaceAll('"', "'"),
    () => `/**/${genuine}//`,
    () => genuine.replace(/:/, ':NaN,"n":'),
    () => genuine.replace(/"(?=[,}])/, '\\ud800"'),
    () =>
      random.pick(['', ' ', 'null', '[]', '0', '"x"', 'true', '-', '1e', '[1,]', '{,}', '{"a"}', '\u0000']),
    () => `{"x":"${'A'.repeat(70_000)}"}`,
    () => `{${Array.from({ length: 3_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`,
  ])()
}

/** The same token with changed bits, letters or length. */
export function damaged(random: Random, token: string): string {
  const at = random.integer(0, Math.max(0, token.length - 1))
  return random.pick([
    () =>
      token.slice(0, at) +
      String.fromCharCode(token.charCodeAt(at) ^ (1 << random.integer(0, 6))) +
      token.slice(at + 1),
    () => token.slice(0, at),
    () => token + token,
    () => token.slice(at) + token.slice(0, at),
    () => token.toUpperCase(),
    () => `${token}${random.pick(['=', '.', 'A', '\n', '\u0000'])}`,
    () => token,
  ])()
}
