// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IERC3009
/// @notice EIP-3009 with a signature as bytes, as tokens have it that also accept ERC-1271 wallets.
interface IERC3009 {
    /// @notice Moves `value` by the signature of `from`. The caller must be `to`.
    /// @param from The payer, whose signature it is.
    /// @param to The receiver and caller.
    /// @param value The amount.
    /// @param validAfter The signature is valid after this second.
    /// @param validBefore The signature is valid before this second.
    /// @param nonce A word that can be used once for each payer.
    /// @param signature ECDSA, or whatever the payer's ERC-1271 code accepts.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;

    /// @notice Moves `value` by the signature of `from`. Anyone may call.
    /// @param from The payer, whose signature it is.
    /// @param to The receiver.
    /// @param value The amount.
    /// @param validAfter The signature is valid after this second.
    /// @param validBefore The signature is valid before this second.
    /// @param nonce A word that can be used once for each payer.
    /// @param signature ECDSA, or whatever the payer's ERC-1271 code accepts.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}
