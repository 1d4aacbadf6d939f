// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @dev EIP-2612 as in OpenZeppelin: ecrecover only.
contract PermitToken is ERC20, ERC20Permit {
    constructor() ERC20("Permit", "PMT") ERC20Permit("Permit") {}
}

/// @dev EIP-2612 as in USDC 2.2: ERC-1271 for a holder with code, ecrecover for any other.
contract CodePermitToken is ERC20, ERC20Permit {
    constructor() ERC20("Permit", "PMT") ERC20Permit("Permit") {}

    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes memory signature) external {
        require(block.timestamp <= deadline, "expired");
        bytes32 typehash = keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        bytes32 digest =
            _hashTypedDataV4(keccak256(abi.encode(typehash, owner, spender, value, _useNonce(owner), deadline)));
        if (owner.code.length == 0) require(ECDSA.recover(digest, signature) == owner, "bad signature");
        else require(IERC1271(owner).isValidSignature(digest, signature) == 0x1626ba7e, "bad signature");
        _approve(owner, spender, value);
    }
}

contract Nft is ERC721("Nft", "NFT") {
    function safeMint(address to, uint256 id) external {
        _safeMint(to, id);
    }
}

contract Multi is ERC1155("") {
    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external {
        _mintBatch(to, ids, amounts, "");
    }
}

interface ERC223Receiver {
    function tokenFallback(address from, uint256 amount, bytes calldata data) external;

    function tokenReceived(address from, uint256 amount, bytes calldata data) external returns (bytes4);
}

/// @dev ERC-223 in both forms: a holder with code must accept the token.
contract Erc223Token is ERC20("Erc223", "223") {
    function mintFirstForm(address to, uint256 amount) external {
        _mint(to, amount);
        if (to.code.length != 0) ERC223Receiver(to).tokenFallback(msg.sender, amount, "");
    }

    function mintFinalForm(address to, uint256 amount) external {
        _mint(to, amount);
        if (to.code.length == 0) return;
        require(ERC223Receiver(to).tokenReceived(msg.sender, amount, "") == 0x8943ec02, "refused");
    }
}
