import { readFileSync } from 'node:fs'

/** The version of the package that this file is in: the manifest is a folder above, also in a built package. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
