import type { Build } from '@geoswap/sdk'
import { fieldsOf } from './operation.ts'

/** The signed fields, and the bytes that the wallet receives. */
export function RawFields({ build, signed }: { build: Build; signed: string }) {
  const name = build.origin === 'evm' ? (build.typedData ? 'typed data of the token' : 'hash') : 'transaction'
  const bytes = { name, value: signed }
  return (
    <details>
      <summary>Everything that is signed</summary>
      <dl class="raw">
        {[...fieldsOf(build.operation), bytes].map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
