import type { ComponentChildren } from 'preact'

type Props = { class: string; isDisabled?: boolean; onClick(): void; children: ComponentChildren }

/** A button that keeps the focus while it is disabled, so that keyboard users do not lose their place. */
export function ActionButton({ isDisabled = false, onClick, children, ...rest }: Props) {
  return (
    <button {...rest} type="button" aria-disabled={isDisabled} onClick={() => isDisabled || onClick()}>
      {children}
    </button>
  )
}
