import { useSession } from '../service/session.ts'
import { Copyable } from './copyable.tsx'

type Props = { hash: string; chainId: number | undefined; label: string }

/** A transaction, with a link to the block explorer if the operator configured one. */
export function TxLink({ hash, chainId, label }: Props) {
  const { settings } = useSession()
  const place = chainId === undefined ? undefined : settings.txUrls[chainId]
  return <Copyable text={hash} label={label} href={place?.replace('{hash}', encodeURIComponent(hash))} />
}
