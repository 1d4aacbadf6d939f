import { readFileSync } from 'node:fs'
import { argv, exit, stderr, version } from 'node:process'
import { fileURLToPath } from 'node:url'

// Runs before anything is loaded that a Node that is too old cannot read, so its syntax is old.

/** A sentence if the version is older than the range `>=major.minor` asks. */
export function refusalOf(given, range) {
  const [major, minor] = given.replace('v', '').split('.').map(Number)
  const [wantedMajor, wantedMinor] = range.replace('>=', '').split('.').map(Number)
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined
  return `geoswap needs Node ${wantedMajor}.${wantedMinor} or newer, and this is ${given}.`
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const refusal = refusalOf(version, engines.node)
  if (refusal) {
    stderr.write(`${refusal}\n`)
    exit(1)
  }
}
