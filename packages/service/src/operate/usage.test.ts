import { expect, test } from 'vitest'
import { readCommandLine, USAGE } from './usage.ts'

const ask = (line: string) => readCommandLine(line.split(' ').filter((word) => word !== ''))

test.each(['', 'help', '-h', '--help'])('"service %s" shows all commands', (line) => {
  expect(ask(line)).toEqual({ kind: 'help', text: USAGE })
})

test.each(['--version', '-v', 'version'])('"service %s" shows the version', (line) => {
  expect(ask(line)).toEqual({ kind: 'version' })
})

test.each([
  ['deploy --help', 'service deploy [--config FILE]'],
  ['deploy --config geoswap.json -h', 'service deploy [--config FILE]'],
  ['setup --help', 'service setup --chains'],
  ['launch --help', 'service launch [--stock'],
  ['treasury apply --help', 'service treasury plan'],
  ['fund plan --help', 'service fund plan'],
  ['doctor --help', 'service doctor'],
  ['keys --help', 'service keys generate --role'],
  ['keys generate --role relayer --out keys --help', 'service keys generate --role'],
  ['inventory withdraw --yes --help', 'service inventory status'],
  ['fees payout --yes --help', 'service fees status'],
  ['pause --note x --help', 'service pause [SCOPE]'],
  ['stops -h', 'service pause [SCOPE]'],
  ['swaps write-off 1 -h', 'service swaps list'],
  ['books --days 3 -h', 'service books [--days N]'],
  ['rebuild --help', 'service rebuild'],
  ['init --help', 'service init'],
  ['check-config --help', 'service check-config'],
  ['add-token --chain base --help', 'service add-token --chain'],
  ['add-chain base -h', 'service add-chain NAME|FILE'],
  ['api-key create --name x --help', 'service api-key create --name NAME'],
  ['webhook -h', 'service webhook add --account'],
  ['help keys', 'service keys generate --role'],
  ['migrate --help', 'service migrate    bring the database'],
  ['worker -h', 'service worker     lock'],
])('"service %s" explains the command, and does nothing else', (line, text) => {
  expect(ask(line)).toEqual({ kind: 'help', text: expect.stringMatching(start(text)) })
})

test.each([
  ['migrate --dry-run', 'service migrate takes no arguments'],
  ['migrate --accept-treasury', 'service migrate takes no arguments'],
  ['api 8080', 'service api takes no arguments'],
  ['worker --port 1', 'service worker takes no arguments'],
  ['attester worker', 'service attester takes no arguments'],
  ['all api', 'service all takes no arguments'],
  ['fly', 'Unknown command fly.'],
  ['help fly', 'Unknown command fly.'],
  ['toString', 'Unknown command toString.'],
])('"service %s" is refused before anything is done', (line, text) => {
  expect(ask(line)).toEqual({ kind: 'refused', text: expect.stringMatching(start(text)) })
})

test('a command runs with its arguments', () => {
  expect(ask('worker')).toEqual({ kind: 'process', name: 'worker', acceptsTreasury: false })
  const accepting = { kind: 'process', name: 'all', acceptsTreasury: true }
  expect(ask('all --accept-treasury')).toEqual(accepting)
  expect(ask('keys status --config x')).toEqual({
    kind: 'command',
    name: 'keys',
    args: ['status', '--config', 'x'],
  })
})

function start(text: string): RegExp {
  return new RegExp(`^${text.replace(/[[\].]/g, '\\$&')}`)
}
