import type { AuthorizationFields, QuoteRequest } from '@geoswap/sdk'
import { Copyable } from '../parts/copyable.tsx'
import { Row } from '../parts/row.tsx'
import { chainOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'

/** An EIP-7702 authorization in words. It is needed once per wallet and chain. */
export function AuthorizationTerms({
  fields,
  request,
}: {
  fields: AuthorizationFields
  request: QuoteRequest
}) {
  const { catalog } = useSession()
  const name = chainOf(catalog, fields.chainId)?.name ?? `chain ${fields.chainId}`
  return (
    <>
      <p class="prose">
        This is the wallet's first swap on {name}. It signs once that its account there runs the service's
        contract. The contract can only transfer the amounts that the wallet signs. No gas coin is needed.
      </p>
      <dl class="rows">
        <Row name="Wallet">
          <Copyable text={request.walletAddress} label="wallet" />
        </Row>
        <Row name="Contract">
          <Copyable text={fields.address} label="contract" />
        </Row>
        <Row name="Only on">
          {name} <span class="fine">chain {fields.chainId}</span>
        </Row>
        <Row name="Account nonce">{fields.nonce}</Row>
      </dl>
    </>
  )
}
